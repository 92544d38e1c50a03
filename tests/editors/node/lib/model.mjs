/** A model's endpoint that plays a script: an OpenAI-compatible server on a free port. */

import { once } from "node:events";
import { createServer } from "node:http";

import { Gate, Seen, after } from "./wait.mjs";

/** Serves one script; a request beyond its end is answered 500. */
export class Model {
  requests = new Seen();
  #script = [];
  #calls = 0;

  static async start(t) {
    const model = new Model();
    model.server = createServer((request, response) => model.#answer(request, response));
    model.server.listen(0, "127.0.0.1");
    await once(model.server, "listening");
    after(t, () => model.stop());
    return model;
  }

  get url() {
    return `http://127.0.0.1:${this.server.address().port}/v1`;
  }

  /** What answers the next requests, in order. */
  play(...answers) {
    this.#script.push(...answers);
    return this;
  }

  /** The request with this number, counted from 1, once it came. */
  request(count) {
    return this.requests.nth(count, "request to the model");
  }

  /** Closes all connections, and listens no longer. */
  async stop() {
    this.server.closeAllConnections();
    if (this.server.listening) await new Promise((resolve) => this.server.close(resolve));
  }

  nextCall() {
    this.#calls += 1;
    return `call_${this.#calls}`;
  }

  async #answer(request, response) {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = JSON.parse(Buffer.concat(parts).toString() || "null");
    const gone = new Gate();
    response.on("close", () => response.writableFinished || gone.open());
    this.requests.add({ url: request.url, headers: request.headers, body, gone: gone.opened });
    const play = this.#script.shift() ?? refuses(500, "the script is at its end");
    await play(new Reply(this, response, gone.opened));
  }
}

/** One answer as it is streamed. */
class Reply {
  constructor(model, response, gone) {
    this.model = model;
    this.response = response;
    this.gone = gone;
  }

  /** Sends a text word by word. */
  say(text) {
    for (const word of text.match(/\S+\s*|\s+/g) ?? []) this.delta({ content: word });
  }

  delta(delta, finish = null) {
    this.#event({ choices: [{ index: 0, delta, finish_reason: finish }] });
  }

  /** Ends the answer as a provider does. */
  finish(reason) {
    this.delta({}, reason);
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    this.#event({ choices: [], usage });
    this.response.end("data: [DONE]\n\n");
  }

  #event(data) {
    if (!this.response.headersSent) {
      this.response.writeHead(200, { "content-type": "text/event-stream" });
    }
    this.response.write(`data: ${JSON.stringify(data)}\n\n`);
  }
}

/** Says a text and is done. */
export const says = (text) => (reply) => {
  reply.say(text);
  reply.finish("stop");
};

/** Calls tools, each given as [name, arguments]; arguments that are a string are sent as such. */
export const calls =
  (...wanted) =>
  (reply) => {
    wanted.forEach(([name, given], index) => {
      const text = typeof given === "string" ? given : JSON.stringify(given);
      const call = { index, id: reply.model.nextCall(), type: "function" };
      reply.delta({ tool_calls: [{ ...call, function: { name, arguments: text } }] });
    });
    reply.finish("tool_calls");
  };

/** Says a text, and is done when the gate opens, unless the client has gone by then. */
export const holds =
  (text, gate = new Gate()) =>
  async (reply) => {
    reply.say(text);
    const gone = await Promise.race([gate.opened, reply.gone.then(() => "gone")]);
    if (gone !== "gone") reply.finish("stop");
  };

/** Breaks the connection after some text. */
export const breaks = (text) => (reply) => {
  reply.say(text);
  // What was written is on its way first.
  reply.response.write(": \n\n", () => reply.response.destroy());
};

/** Answers with a status and an error object. */
export const refuses = (status, message) => (reply) => {
  reply.response.writeHead(status, { "content-type": "application/json" });
  reply.response.end(JSON.stringify({ error: { message } }));
};

/** Answers with a web page. */
export const shows = (html) => (reply) => {
  reply.response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
  reply.response.end(html);
};

/** What the model was told came of its tool calls, in one request. */
export const results = (request) =>
  request.body.messages
    .filter((message) => message.role === "tool")
    .map((message) => message.content);
