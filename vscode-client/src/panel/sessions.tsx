// All sessions, newest first, with search in everything that was said.

import { useEffect, useRef, useState } from "preact/hooks";
import type { SessionEntry } from "../wire/types";
import { lastPart } from "../session/labels";
import { remove } from "./doing";
import { escapes, isComposing, roam } from "./focus";
import type { Store } from "./store";
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
  const [failed, setFailed] = useState(false);
  const asked = useRef(0);
  const search = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);

  const load = async (after?: string): Promise<void> => {
    const mine = ++asked.current;
    setFailed(false);
    const result = await store.ask("turnbuckle/session/list", {
      ...(query.trim() ? { query: query.trim() } : {}),
      ...(after === undefined ? {} : { cursor: after }),
    });
    if (mine !== asked.current) return; // a later question was asked meanwhile
    if (!result) return setFailed(true);
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
  const entries = (): HTMLElement[] => [
    ...(list.current?.querySelectorAll<HTMLElement>(".session-open") ?? []),
  ];
  const more = (): void => {
    const last = entries().at(-1);
    void load(cursor).then(() => last?.focus()); // its button may be gone
  };
  const key = (event: KeyboardEvent): void => {
    if (escapes(event)) return store.back();
    const target = event.target as HTMLElement;
    if (target.classList.contains("session-open")) roam(event, entries());
    else if (target === search.current && event.key === "ArrowDown" && !isComposing(event)) {
      event.preventDefault();
      entries()[0]?.focus();
    }
  };
  return (
    <div class="sessions" onKeyDown={key}>
      <input
        ref={search}
        class="search"
        type="search"
        aria-label="Search in sessions"
        placeholder="Search in sessions"
        dir="auto"
        value={query}
        onInput={(event) => setQuery(event.currentTarget.value)}
      />
      {folders.length > 1 && (
        <div class="choices" role="group" aria-label="New session in">
          {folders.map((folder) => (
            <Button key={folder.uri} onClick={() => show(store, undefined, folder.uri)}>
              New in {folder.name}
            </Button>
          ))}
        </div>
      )}
      {server === "running" && found === undefined && !failed && <p class="muted">Looking…</p>}
      {failed && (
        <p class="muted">
          The list did not come.{" "}
          <Button kind="link" onClick={() => void load()}>
            Look again
          </Button>
        </p>
      )}
      {server !== "running" && <p class="muted">Sessions are shown once the server runs.</p>}
      {found?.length === 0 && (
        <p class="muted">{query ? "Nothing was found." : "There are no sessions yet."}</p>
      )}
      <ul class="session-list" ref={list}>
        {found?.map((entry) => (
          <Entry key={entry.sessionId} entry={entry} remove={() => void drop(entry.sessionId)} />
        ))}
      </ul>
      {cursor !== undefined && (
        <Button kind="link" onClick={more}>
          Show more
        </Button>
      )}
    </div>
  );
}

function Entry({ entry, remove }: { entry: SessionEntry; remove: () => void }) {
  const store = useStore();
  const [sure, setSure] = useState(false);
  const line = useRef<HTMLLIElement>(null);
  const sureness = useRef<HTMLSpanElement>(null);
  const name = entry.title ?? "this session";
  // No button is under the key that asked: one press more would be an answer.
  useEffect(() => sureness.current?.focus(), [sure]);
  const keep = (): void => {
    line.current?.querySelector("button")?.focus();
    setSure(false);
  };
  const { note, shown, far } = useView((view) => ({
    note: view.notes.find((one) => one.sessionId === entry.sessionId)?.state,
    shown: view.session?.sessionId === entry.sessionId,
    far: entry.cwd !== undefined && !view.settings.folders.some((one) => one.uri === entry.cwd),
  }));
  const turns = entry.turns === 1 ? "1 turn" : `${entry.turns} turns`;
  return (
    <li class="session" ref={line}>
      <button
        type="button"
        class="session-open"
        aria-current={shown ? "true" : undefined}
        onClick={() => (shown ? store.back() : show(store, entry.sessionId))}
      >
        <span class="session-title" dir="auto">
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
        {entry.match && (
          <span class="session-match" dir="auto">
            {entry.match}
          </span>
        )}
      </button>
      {sure ? (
        <span
          class="choices"
          role="group"
          aria-label={`Delete ${name}?`}
          tabIndex={-1}
          ref={sureness}
          onKeyDown={(event) => escapes(event) && keep()}
        >
          <Button kind="primary" onClick={remove}>
            Delete
          </Button>
          <Button onClick={keep}>Keep</Button>
        </span>
      ) : (
        <IconButton icon="trash" label={`Delete ${name}`} onClick={() => setSure(true)} />
      )}
    </li>
  );
}

/** The person goes on in the session, with the keyboard where one writes. */
function show(store: Store, sessionId?: string, folder?: string): void {
  store.showSession(sessionId, folder);
  // One that is there already may not be opened: what it says then is read beside the list.
  if (sessionId === undefined) store.back();
  else store.focus();
}

function when(time: number): string {
  const date = new Date(time);
  const today = new Date().toDateString() === date.toDateString();
  return today
    ? date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })
    : date.toLocaleDateString([], { year: "numeric", month: "short", day: "numeric" });
}
