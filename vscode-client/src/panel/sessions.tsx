// All sessions, newest first, with search in everything that was said.

import { useEffect, useRef, useState } from "preact/hooks";
import type { SessionEntry } from "../wire/types";
import { useStore, useView } from "./app";
import { Button, IconButton } from "./widgets";

export function Sessions() {
  const store = useStore();
  const { settings } = useView();
  const [query, setQuery] = useState("");
  const [found, setFound] = useState<SessionEntry[] | undefined>(undefined);
  const [cursor, setCursor] = useState<string | undefined>(undefined);
  const asked = useRef(0);

  const load = async (after?: string): Promise<void> => {
    const mine = ++asked.current;
    const result = await store.ask("turnbuckle/session/list", {
      ...(query.trim() ? { query: query.trim() } : {}),
      ...(after === undefined ? {} : { cursor: after }),
    });
    if (!result || mine !== asked.current) return; // a later question was asked meanwhile
    setFound((before) => (after === undefined ? result.sessions : [...(before ?? []), ...result.sessions]));
    setCursor(result.cursor);
  };
  useEffect(() => void load(), [query]);

  const remove = async (sessionId: string): Promise<void> => {
    if (await store.ask("turnbuckle/session/delete", { sessionId })) {
      setFound((before) => before?.filter((one) => one.sessionId !== sessionId));
    }
  };
  return (
    <div class="sessions">
      <input
        class="search"
        type="search"
        aria-label="Search in sessions"
        placeholder="Search in sessions"
        value={query}
        onInput={(event) => setQuery(event.currentTarget.value)}
      />
      {settings.folders.length > 1 && (
        <div class="choices" role="group" aria-label="New session in">
          {settings.folders.map((folder) => (
            <Button key={folder.uri} onClick={() => store.showSession(undefined, folder.uri)}>
              New in {folder.name}
            </Button>
          ))}
        </div>
      )}
      {found?.length === 0 && <p class="muted">{query ? "Nothing was found." : "There are no sessions yet."}</p>}
      <ul class="session-list">
        {found?.map((entry) => (
          <Entry key={entry.sessionId} entry={entry} remove={() => void remove(entry.sessionId)} />
        ))}
      </ul>
      {cursor !== undefined && <Button kind="link" onClick={() => void load(cursor)}>Show more</Button>}
    </div>
  );
}

function Entry({ entry, remove }: { entry: SessionEntry; remove: () => void }) {
  const store = useStore();
  const [sure, setSure] = useState(false);
  const turns = entry.turns === 1 ? "1 turn" : `${entry.turns} turns`;
  return (
    <li class="session">
      <button type="button" class="session-open" onClick={() => store.showSession(entry.sessionId)}>
        <span class="session-title">{entry.title ?? "Untitled"}</span>
        <span class="muted">
          {when(entry.updated)} · {turns}
          {entry.damaged ? " · damaged" : ""}
          {entry.parent ? " · forked" : ""}
        </span>
        {entry.match && <span class="session-match">{entry.match}</span>}
      </button>
      {sure ? (
        <span class="choices">
          <Button kind="primary" onClick={remove}>Delete</Button>
          <Button onClick={() => setSure(false)}>Keep</Button>
        </span>
      ) : (
        <IconButton icon="trash" label={`Delete ${entry.title ?? "this session"}`} onClick={() => setSure(true)} />
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
