/** Sees processes begin and end, by connections that they hold while they live. */

import { once } from "node:events";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";

import { Seen, after, within } from "./wait.mjs";

const SCRIPT = fileURLToPath(new URL("lingers.mjs", import.meta.url));

/** A command line of two processes that never end by themselves. */
export class Lingering {
  #came = new Seen();
  #gone = new Seen();

  static async start(t) {
    const lingering = new Lingering();
    lingering.server = createServer((socket) => {
      lingering.#came.add(socket);
      socket
        .on("error", () => {})
        .on("close", () => lingering.#gone.add(socket))
        .resume();
    });
    lingering.server.listen(0, "127.0.0.1");
    await once(lingering.server, "listening");
    after(t, () => lingering.server.close());
    return lingering;
  }

  get command() {
    return `"${process.execPath}" "${SCRIPT}" ${this.server.address().port}`;
  }

  /** Both of its processes run. */
  running() {
    return within(this.#came.nth(2, "process"), "both processes run");
  }

  /** Neither of them runs any more. */
  ended() {
    return within(this.#gone.nth(2, "ended process"), "both processes have ended");
  }
}
