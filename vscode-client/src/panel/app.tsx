// The whole panel: what is wrong above, the conversation or the list of sessions, the composer.

import { createContext } from "preact";
import { useContext, useEffect, useReducer } from "preact/hooks";
import { Announcer } from "./announcer";
import { Composer } from "./composer";
import { Header } from "./header";
import { Sessions } from "./sessions";
import type { Store, View } from "./store";
import { Transcript } from "./transcript";
import { Banner, Button } from "./widgets";

const Context = createContext<Store | undefined>(undefined);

export function useStore(): Store {
  const store = useContext(Context);
  if (!store) throw new Error("a component stands outside of the app");
  return store;
}

export function useView(): View {
  const store = useStore();
  const [, draw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => store.subscribe(() => draw(undefined)), [store]);
  return store.view;
}

export function App({ store }: { store: Store }) {
  return (
    <Context.Provider value={store}>
      <Panel />
    </Context.Provider>
  );
}

function Panel() {
  const store = useStore();
  const view = useView();
  return (
    <div class="panel">
      <Header />
      <Problems />
      {view.page === "sessions" ? (
        <Sessions />
      ) : (
        <>
          <Transcript />
          <Composer />
        </>
      )}
      <Announcer state={view.state} problem={view.problem} live={store.view.state.live} />
    </div>
  );
}

function Problems() {
  const store = useStore();
  const { server, session, problem, settings } = useView();
  return (
    <>
      {server.state === "failed" && (
        <Banner icon="error" kind="error" text={server.message ?? "The server does not run."}>
          <Button onClick={() => store.do({ do: "restart" })}>Restart</Button>
          <Button onClick={() => store.do({ do: "showLog" })}>Show log</Button>
        </Banner>
      )}
      {problem !== undefined && (
        <Banner icon="warning" kind="warning" text={problem}>
          <Button onClick={() => store.setProblem(undefined)}>Dismiss</Button>
        </Banner>
      )}
      {!settings.trusted && (
        <Banner icon="shield" kind="info" text="This workspace is not trusted: past sessions can be read, nothing runs." />
      )}
      {session?.damaged !== undefined && (
        <Banner icon="warning" kind="warning" text={session.damaged}>
          <Button onClick={() => void forkLast(store)}>Go on in a copy</Button>
        </Banner>
      )}
      {session?.readOnly && session.damaged === undefined && (
        <Banner icon="lock" kind="info" text="Another window writes this session. Your next message takes it over once that is closed." />
      )}
    </>
  );
}

async function forkLast(store: Store): Promise<void> {
  const { session, state } = store.view;
  if (!session) return;
  const turn = state.running ? state.turn - 1 : state.turn;
  const made = await store.ask("turnbuckle/session/fork", { sessionId: session.sessionId, turn });
  if (made) store.showSession(made.sessionId);
}
