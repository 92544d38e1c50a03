// The panel's entry: one store, one tree.

import { render } from "preact";
import type { ToPanel } from "../shared/messages";
import { api } from "./api";
import { App } from "./app";
import { render as markdown } from "./markdown";
import { Store } from "./store";

const store = new Store(api(), (draw) => requestAnimationFrame(draw));
window.addEventListener("message", (event: MessageEvent<ToPanel | undefined>) => {
  if (event.data && typeof event.data === "object") store.receive(event.data);
});
render(<App store={store} />, document.getElementById("root")!);
store.start();
// What draws answers is slow when it is first used: that is over before there is one.
requestIdleCallback(() => void markdown("- `a` *b*\n\n```py\na = 1\n```", true));
