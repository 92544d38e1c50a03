// All sessions, newest first, with search in everything that was said.

import { useEffect, useRef, useState } from "preact/hooks";
import type { SessionEntry } from "../wire/types";
import { lastPart } from "../session/labels";
import { remove } from "./doing";
import { useStore, useView } from "./use";
import { Button, Icon, IconButton } from "./widgets";

/** Typing is awaited for so long before it is searched for, in milliseconds. */
const TYPING = 150;

export function Sessions() {
  const store = useStore();
  const folders = useView((view) => view.settings.folders);
  const server = useView((view) => view.server.state);
  const [query, setQuery] = useState("");
  const [found, setFound] = useState<SessionEntry[] | undefined>(undefined);
  const [cursor, setCursor] = useState<string | undefined>(undefined);
  const asked = useRef(0);
  const search = useRef<HTMLInputElement>(null);

  const load = async (after?: string): Promise<void> => {
    const mine = ++asked.current;
    const result = await store.ask("turnbuckle/session/list", {
      ...(query.trim() ? { query: query.trim() } : {}),
      ...(after === undefined ? {} : { cursor: after }),
    });
    if (!result || mine !== asked.current) return; // a later question was asked meanwhile
    setFound((before) =>
      after === undefined ? result.sessions : [...(before ?? []), ...result.sessions],
    );
    setCursor(result.cursor);
  };
  useEffect(() => {
    if (server !== "running") return undefined;
    const timer = setTimeout(() => void load(), query ? TYPING : 0);
    return () => clearTimeout(timer);
  }, [query, server]);
  useEffect(() => search.current?.focus(), []);

  const drop = async (sessionId: string): Promise<void> => {
    if (!(await remove(store, sessionId))) return;
    setFound((before) => before?.filter((one) => one.sessionId !== sessionId));
    search.current?.focus();
  };
  return (
    <div class="sessions" onKeyDown={(event) => event.key === "Escape" && store.setPage("chat")}>
      <input
        ref={search}
        class="search"
        type="search"
        aria-label="Search in sessions"
        placeholder="Search in sessions"
        value={query}
        onInput={(event) => setQuery(event.currentTarget.value)}
      />
      {folders.length > 1 && (
        <div class="choices" role="group" aria-label="New session in">
          {folders.map((folder) => (
            <Button key={folder.uri} onClick={() => store.showSession(undefined, folder.uri)}>
              New in {folder.name}
            </Button>
          ))}
        </div>
      )}
      {server === "running" && found === undefined && <p class="muted">Looking…</p>}
      {server !== "running" && <p class="muted">Sessions are shown once the server runs.</p>}
      {found?.length === 0 && (
        <p class="muted">{query ? "Nothing was found." : "There are no sessions yet."}</p>
      )}
      <ul class="session-list">
        {found?.map((entry) => (
          <Entry key={entry.sessionId} entry={entry} remove={() => void drop(entry.sessionId)} />
        ))}
      </ul>
      {cursor !== undefined && (
        <Button kind="link" onClick={() => void load(cursor)}>
          Show more
        </Button>
      )}
    </div>
  );
}

function Entry({ entry, remove }: { entry: SessionEntry; remove: () => void }) {
  const store = useStore();
  const [sure, setSure] = useState(false);
  const { note, shown, far } = useView((view) => ({
    note: view.notes.find((one) => one.sessionId === entry.sessionId)?.state,
    shown: view.session?.sessionId === entry.sessionId,
    far: entry.cwd !== undefined && !view.settings.folders.some((one) => one.uri === entry.cwd),
  }));
  const turns = entry.turns === 1 ? "1 turn" : `${entry.turns} turns`;
  return (
    <li class="session">
      <button
        type="button"
        class="session-open"
        aria-current={shown ? "true" : undefined}
        onClick={() => (shown ? store.setPage("chat") : store.showSession(entry.sessionId))}
      >
        <span class="session-title">
          {note === "running" && <Icon name="loading" spin />}
          {note === "waiting" && <Icon name="bell-dot" />}
          {entry.title ?? "Untitled"}
        </span>
        <span class="muted">
          {[
            when(entry.updated),
            turns,
            ...(note === "waiting" ? ["waits for you"] : note === "running" ? ["runs"] : []),
            ...(entry.cwd !== undefined && far ? [lastPart(entry.cwd)] : []),
            ...(entry.damaged ? ["damaged"] : []),
            ...(entry.parent ? ["forked"] : []),
          ].join(" · ")}
        </span>
        {entry.match && <span class="session-match">{entry.match}</span>}
      </button>
      {sure ? (
        <span class="choices">
          <Button kind="primary" onClick={remove}>
            Delete
          </Button>
          <Button onClick={() => setSure(false)}>Keep</Button>
        </span>
      ) : (
        <IconButton
          icon="trash"
          label={`Delete ${entry.title ?? "this session"}`}
          onClick={() => setSure(true)}
        />
      )}
    </li>
  );
}

function when(time: number): string {
  const date = new Date(time);
  const today = new Date().toDateString() === date.toDateString();
  return today
    ? date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })
    : date.toLocaleDateString([], { year: "numeric", month: "short", day: "numeric" });
}
