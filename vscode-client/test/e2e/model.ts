// The model of the journeys: an OpenAI-compatible endpoint that plays what a journey tells it to.

import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Asked {
  messages: { role: string; content: unknown }[];
}

/** Plays one answer. */
export type Play = (reply: Reply) => void | Promise<void>;

export class Model {
  private readonly script: Play[] = [];
  private readonly waiting: (() => void)[] = [];
  readonly requests: Asked[] = [];
  private calls = 0;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<Model> {
    const server = createServer();
    const model = new Model(server);
    server.on("request", (request, response) => {
      void model.answer(request, response);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return model;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  /** What answers the next requests, in order; what was left of an earlier script is gone. */
  play(...plays: Play[]): void {
    this.script.splice(0, this.script.length, ...plays);
    this.requests.length = 0;
  }

  /** The request with this number since the last `play`, counted from 1. */
  async request(count: number): Promise<Asked> {
    while (this.requests.length < count) {
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
    return this.requests[count - 1]!;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    if (request.method === "GET") {
      response.end(JSON.stringify({ data: [{ id: "scripted" }] }));
      return;
    }
    this.requests.push(JSON.parse(Buffer.concat(parts).toString()) as Asked);
    for (const tell of this.waiting.splice(0)) tell();
    const play = this.script.shift();
    if (play) await play(new Reply(response, () => `call_${++this.calls}`));
    else response.writeHead(500).end('{"error":{"message":"the script is at its end"}}');
  }
}

export class Reply {
  readonly gone: Promise<void>;

  constructor(
    private readonly response: ServerResponse,
    readonly nextCall: () => string,
  ) {
    this.gone = new Promise((resolve) => response.on("close", () => resolve()));
    response.writeHead(200, { "content-type": "text/event-stream" });
  }

  delta(delta: Record<string, unknown>, finish: string | null = null): void {
    this.event({ choices: [{ index: 0, delta, finish_reason: finish }] });
  }

  say(text: string): void {
    for (const word of text.match(/\S+\s*|\s+/g) ?? []) this.delta({ content: word });
  }

  finish(reason: string): void {
    this.delta({}, reason);
    this.event({
      choices: [],
      usage: { prompt_tokens: 2400, completion_tokens: 60, total_tokens: 2460 },
    });
    this.response.end("data: [DONE]\n\n");
  }

  private event(data: unknown): void {
    this.response.write(`data: ${JSON.stringify(data)}\n\n`);
  }
}

/** Says a text and is done. */
export const says =
  (text: string): Play =>
  (reply) => {
    reply.say(text);
    reply.finish("stop");
  };

/** Says a text, then calls tools, each as [name, arguments]. */
export const calls =
  (text: string, ...wanted: [name: string, given: object][]): Play =>
  (reply) => {
    if (text) reply.say(text);
    wanted.forEach(([name, given], index) => {
      const call = { name, arguments: JSON.stringify(given) };
      reply.delta({
        tool_calls: [{ index, id: reply.nextCall(), type: "function", function: call }],
      });
    });
    reply.finish("tool_calls");
  };

/** Says a text and goes on only when the gate opens or the client is gone. */
export const holds =
  (text: string, gate: Promise<void>, then = ""): Play =>
  async (reply) => {
    reply.say(text);
    const gone = await Promise.race([gate.then(() => false), reply.gone.then(() => true)]);
    if (gone) return;
    if (then) reply.say(then);
    reply.finish("stop");
  };

export function gate(): { opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** What the model was told came of its calls, in one request. */
export const results = (asked: Asked): string[] =>
  asked.messages.filter((one) => one.role === "tool").map((one) => String(one.content));
