// The panel's entry: one store, one tree.

import { render } from "preact";
import type { ToPanel } from "../shared/messages";
import { api } from "./api";
import { App } from "./app";
import { Store } from "./store";

const store = new Store(api(), (draw) => requestAnimationFrame(draw));
window.addEventListener("message", (event: MessageEvent<ToPanel | undefined>) => {
  if (event.data && typeof event.data === "object") store.receive(event.data);
});
render(<App store={store} />, document.getElementById("root")!);
store.start();
