/** The wire byte by byte, for what no well-behaved client sends. */

import { Seen } from "./wait.mjs";

/** One end of a stream of frames; what comes in is seen as JSON. */
export class Raw {
  received = new Seen();
  #rest = Buffer.alloc(0);

  constructor(from, to) {
    this.to = to;
    from.on("data", (data) => this.#take(data));
  }

  /** Sends a body as it is, in a frame. */
  body(text) {
    const bytes = Buffer.from(text);
    this.to.write(Buffer.concat([Buffer.from(`Content-Length: ${bytes.length}\r\n\r\n`), bytes]));
  }

  send(message) {
    this.body(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  /** Sends a request and gives its whole answer. */
  ask(id, method, params) {
    this.send({ id, method, params });
    return this.received.find((message) => message.id === id && !message.method, `answer ${id}`);
  }

  initialize(params = {}) {
    return this.ask("initialize", "initialize", { processId: null, capabilities: {}, ...params });
  }

  #take(data) {
    this.#rest = Buffer.concat([this.#rest, data]);
    for (;;) {
      const end = this.#rest.indexOf("\r\n\r\n");
      if (end < 0) return;
      const [, length] = /content-length: *(\d+)/i.exec(this.#rest.toString("latin1", 0, end));
      const stop = end + 4 + Number(length);
      if (this.#rest.length < stop) return;
      this.received.add(JSON.parse(this.#rest.toString("utf8", end + 4, stop)));
      this.#rest = this.#rest.subarray(stop);
    }
  }
}
