// Before anything was said: how to begin.

import { useStore, useView } from "./use";
import { Button } from "./widgets";

/** What the server calls the provider of its demo. */
const BUILT_IN = "built-in";

export function Empty() {
  const store = useStore();
  const { demo, trusted, failed } = useView(({ session, settings, server }) => ({
    demo:
      session !== undefined
      && (session.config.provider === BUILT_IN || session.config.model === undefined),
    trusted: settings.trusted,
    failed: server.state === "failed",
  }));
  const playDemo = (): void => {
    store.suggest("Fix the failing test.");
    store.focus();
  };
  return (
    <div class="empty">
      <h2>Ask, review, accept</h2>
      <p>
        Say what you want changed. Nothing is edited and no command is run before you have seen it
        and said so.
      </p>
      {demo && trusted && !failed && (
        <>
          <p class="muted">
            The built-in demo answers now: it plays one scene, offline. Connect a model to work on
            your own code.
          </p>
          <div class="choices">
            <Button kind="primary" onClick={() => store.do({ do: "connect" })}>
              Connect a model…
            </Button>
            <Button onClick={playDemo}>Try the demo</Button>
          </div>
        </>
      )}
      {!demo && <p class="muted">Type @ to name a file, / for commands.</p>}
    </div>
  );
}
