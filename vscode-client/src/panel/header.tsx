// What is shown, and what can be done with it.

import { useEffect, useRef, useState } from "preact/hooks";
import { compact, fork, remove, undoRewind } from "./doing";
import { escapes, roam } from "./focus";
import type { Page } from "./store";
import { useStore, useView } from "./use";
import { Icon, IconButton } from "./widgets";

const TITLES: Partial<Record<Page, string>> = {
  sessions: "Sessions",
  grants: "Allowed in this session",
};

export function Header() {
  const store = useStore();
  const { page, title, sessionId, folder } = useView((view) => ({
    page: view.page,
    title: TITLES[view.page] ?? view.state.title ?? "New session",
    sessionId: view.session?.sessionId,
    folder:
      view.settings.folders.length > 1
        ? view.settings.folders.find((one) => one.uri === view.session?.folder)?.name
        : undefined,
  }));
  const begin = (): void => {
    store.showSession();
    store.back();
  };
  return (
    <header class="header">
      <h1 class="title" dir="auto" title={title}>
        {title}
        {folder !== undefined && page === "chat" && <span class="muted"> · {folder}</span>}
      </h1>
      <IconButton icon="add" label="New session" onClick={begin} />
      {page === "chat" ? (
        <>
          <IconButton icon="history" label="Sessions" onClick={() => store.setPage("sessions")} />
          {sessionId !== undefined && <Menu sessionId={sessionId} />}
        </>
      ) : (
        <IconButton icon="close" label="Back to the chat" onClick={() => store.back()} />
      )}
    </header>
  );
}

interface Entry {
  says: string;
  run(): void;
}

function Menu({ sessionId }: { sessionId: string }) {
  const store = useStore();
  const [open, setOpen] = useState(false);
  const [sure, setSure] = useState(false);
  const anchor = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const buttons = (): HTMLElement[] => [
    ...(list.current?.querySelectorAll<HTMLElement>("button") ?? []),
  ];
  const close = (focus: boolean): void => {
    setOpen(false);
    setSure(false);
    if (focus) anchor.current?.querySelector("button")?.focus();
  };
  useEffect(() => {
    if (!open) return undefined;
    buttons()[0]?.focus();
    const away = (event: Event): void => {
      if (!anchor.current?.contains(event.target as Node)) close(false);
    };
    document.addEventListener("pointerdown", away);
    return () => document.removeEventListener("pointerdown", away);
  }, [open]);
  const entries: Entry[] = [
    { says: "Open as Markdown", run: () => store.do({ do: "export", sessionId }) },
    { says: "Compact the context", run: () => void compact(store) },
    { says: "Fork", run: () => void fork(store) },
    { says: "Undo the last “take back”", run: () => void undoRewind(store) },
    { says: "Allowed in this session…", run: () => store.setPage("grants") },
    { says: "Settings", run: () => store.do({ do: "openSettings" }) },
  ];
  const key = (event: KeyboardEvent): void => {
    if (escapes(event)) close(true);
    else if (event.key === "Tab") close(false);
    else roam(event, buttons());
  };
  return (
    <div class="menu-anchor" ref={anchor}>
      <button
        type="button"
        class="icon-button"
        aria-label="More"
        title="More"
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => (open ? close(true) : setOpen(true))}
      >
        <Icon name="ellipsis" />
      </button>
      {open && (
        <div class="menu" role="menu" aria-label="More" ref={list} onKeyDown={key}>
          {entries.map(({ says, run }) => (
            <MenuItem
              key={says}
              says={says}
              run={() => {
                close(true);
                run();
              }}
            />
          ))}
          <MenuItem
            key="delete"
            says={sure ? "Really delete it?" : "Delete…"}
            run={() => {
              if (!sure) return setSure(true);
              close(true);
              void remove(store, sessionId);
            }}
          />
        </div>
      )}
    </div>
  );
}

function MenuItem({ says, run }: Entry) {
  return (
    <button type="button" role="menuitem" class="menu-item" tabIndex={-1} onClick={run}>
      {says}
    </button>
  );
}
