// The whole panel: what is wrong above, the conversation or a list, and the composer.

import { useState } from "preact/hooks";
import { Announcer } from "./announcer";
import { Composer } from "./composer";
import { fork, stop, stoppable } from "./doing";
import { dropping } from "./dropping";
import { escapes } from "./focus";
import { Grants } from "./grants";
import { Header } from "./header";
import { Sessions } from "./sessions";
import type { Store } from "./store";
import { Transcript } from "./transcript";
import { StoreContext, useStore, useView } from "./use";
import { Banner, Button } from "./widgets";

export function App({ store }: { store: Store }) {
  return (
    <StoreContext.Provider value={store}>
      <Panel />
    </StoreContext.Provider>
  );
}

function Panel() {
  const store = useStore();
  const page = useView((view) => view.page);
  const [over, setOver] = useState(false);
  // Not a keybinding of the editor, which would not know what an Escape closed in here.
  const key = (event: KeyboardEvent): void => {
    if (page !== "chat") {
      if (escapes(event)) store.back();
    } else if (stoppable(store.view) !== undefined && escapes(event)) void stop(store);
  };
  return (
    <main class={`panel${over ? " dropping" : ""}`} onKeyDown={key} {...dropping(store, setOver)}>
      <Header />
      <Problems />
      {page === "sessions" && <Sessions />}
      {page === "grants" && <Grants />}
      {page === "chat" && (
        <>
          <Transcript />
          <Composer />
        </>
      )}
      <Announcer />
    </main>
  );
}

const LOCKED =
  "Another window writes this session. Your next message takes it over once that is closed.";

function Problems() {
  const store = useStore();
  const { server, session, problem, page, trusted } = useView((view) => ({
    server: view.server,
    session: view.session,
    problem: view.problem,
    page: view.page,
    trusted: view.settings.trusted,
  }));
  const dismiss = (): void => {
    store.setProblem(undefined);
    if (page === "chat") store.focus();
  };
  return (
    <>
      {(server.state === "failed" || server.state === "stopped") && (
        <Banner
          icon="error"
          kind={server.state === "failed" ? "error" : "info"}
          text={server.message ?? "The server does not run."}
        >
          <Button onClick={() => store.do({ do: "restart" })}>
            {server.state === "failed" ? "Restart" : "Start"}
          </Button>
          <Button onClick={() => store.do({ do: "showLog" })}>Show log</Button>
        </Banner>
      )}
      {problem !== undefined && (
        <Banner icon="info" kind="warning" text={problem}>
          <Button onClick={dismiss}>Dismiss</Button>
        </Banner>
      )}
      {!trusted && (
        <Banner
          icon="shield"
          kind="info"
          text="This workspace is not trusted: past sessions can be read, nothing runs."
        />
      )}
      {session?.damaged !== undefined && (
        <Banner icon="warning" kind="warning" text={session.damaged}>
          <Button onClick={() => void fork(store)}>Go on in a copy</Button>
        </Banner>
      )}
      {session?.readOnly && session.damaged === undefined && (
        <Banner icon="lock" kind="info" text={LOCKED} />
      )}
    </>
  );
}
