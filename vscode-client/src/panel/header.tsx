// What is shown, and what can be done with it.

import { useState } from "preact/hooks";
import { useStore, useView } from "./app";
import { IconButton } from "./widgets";

export function Header() {
  const store = useStore();
  const { state, session, page } = useView();
  const [menu, setMenu] = useState(false);
  const sessionId = session?.sessionId;
  const title = page === "sessions" ? "Sessions" : (state.title ?? "New session");
  const pick = (run: () => void): void => {
    setMenu(false);
    run();
  };
  return (
    <header class="header">
      <h1 class="title" title={title}>
        {title}
      </h1>
      <IconButton icon="add" label="New session" onClick={() => store.showSession()} />
      <IconButton
        icon={page === "sessions" ? "close" : "history"}
        label={page === "sessions" ? "Back to the chat" : "Sessions"}
        onClick={() => store.setPage(page === "sessions" ? "chat" : "sessions")}
      />
      {sessionId !== undefined && page === "chat" && (
        <div class="menu-anchor" onKeyDown={(event) => event.key === "Escape" && setMenu(false)}>
          <button
            type="button"
            class="icon-button"
            aria-label="More"
            title="More"
            aria-haspopup="menu"
            aria-expanded={menu}
            onClick={() => setMenu(!menu)}
          >
            <span class="codicon codicon-ellipsis" aria-hidden="true" />
          </button>
          {menu && (
            <div class="menu" role="menu">
              <MenuItem onPick={() => pick(() => store.do({ do: "export", sessionId }))}>Open as Markdown</MenuItem>
              <MenuItem onPick={() => pick(() => void compact(sessionId))}>Compact the context</MenuItem>
              <MenuItem onPick={() => pick(() => void store.ask("turnbuckle/session/rewind", { sessionId, undo: true, files: "restore" }))}>
                Undo the last “take back”
              </MenuItem>
              <MenuItem onPick={() => pick(() => store.do({ do: "openSettings" }))}>Settings</MenuItem>
            </div>
          )}
        </div>
      )}
    </header>
  );

  async function compact(id: string): Promise<void> {
    const result = await store.ask("turnbuckle/session/compact", { sessionId: id });
    if (result?.outcome === "nothing") store.setProblem(result.message);
  }
}

function MenuItem(props: { children: string | string[]; onPick: () => void }) {
  return (
    <button type="button" role="menuitem" class="menu-item" onClick={props.onPick}>
      {props.children}
    </button>
  );
}
