// Before anything was said: how to begin.

import { useStore, useView } from "./app";
import { Button } from "./widgets";

export function Empty() {
  const store = useStore();
  const { session } = useView();
  const model = session?.config.model;
  const demo = session?.config.provider === "demo" || model === "demo" || model === undefined;
  return (
    <div class="empty">
      <h2>Ask, review, accept</h2>
      <p>
        Say what you want changed. Nothing is edited and no command is run before you have seen it and said so.
      </p>
      {demo ? (
        <>
          <p class="muted">
            The built-in demo answers now: it plays one scene, offline. Connect a model to work on your own code.
          </p>
          <div class="choices">
            <Button kind="primary" onClick={() => store.do({ do: "connect" })}>Connect a model…</Button>
            <Button onClick={() => store.compose("Fix the failing test.")}>Try the demo</Button>
          </div>
        </>
      ) : (
        <p class="muted">Type @ to name a file, / for commands.</p>
      )}
    </div>
  );
}
