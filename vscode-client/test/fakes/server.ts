// A server that answers from a table, and says what it was asked.

import { Disposable, EventEmitter } from "./vscode";
import type { Server } from "../../src/host/server/server";
import type { ServerState, Value } from "../../src/shared/messages";

type Answer = (params: never) => unknown;

export class FakeServer {
  state: ServerState = { state: "running" };
  readonly asked: { method: string; params: Record<string, unknown> }[] = [];
  private readonly states = new EventEmitter<ServerState>();
  private readonly running = new EventEmitter<void>();
  private readonly handlers = new Map<string, (value: Value) => void>();
  readonly onState = this.states.event;
  readonly onRunning = this.running.event;

  constructor(private readonly answers: Record<string, Answer>) {}

  get server(): Server {
    return this as unknown as Server;
  }

  async request(method: string, params: Record<string, unknown>): Promise<unknown> {
    this.asked.push({ method, params });
    const answer = this.answers[method];
    if (!answer) throw Object.assign(new Error(`unknown method ${method}`), { code: -32601 });
    return answer(params as never);
  }

  /** Whether it runs, as whoever asks it waits for that. */
  start: () => Promise<void> = () => Promise.resolve();
  restarts = 0;
  restart: () => Promise<void> = () => Promise.resolve();

  onValues(token: string, handler: (value: Value) => void): Disposable {
    this.handlers.set(token, handler);
    return new Disposable(() => this.handlers.delete(token));
  }

  get tokens(): string[] {
    return [...this.handlers.keys()];
  }

  /** Send a value on the token that begins so. */
  send(prefix: string, ...values: Value[]): void {
    for (const [token, handler] of [...this.handlers]) {
      if (token.startsWith(prefix)) for (const value of values) handler(value);
    }
  }

  become(state: ServerState): void {
    this.state = state;
    this.states.fire(state);
  }

  comeBack(): void {
    this.running.fire();
  }

  count(method: string): number {
    return this.asked.filter((one) => one.method === method).length;
  }
}

/** Time that moves only when it is told to. */
export class FakeTime {
  private now = 0;
  private waiting: { at: number; call: () => void }[] = [];

  readonly timer = (call: () => void, after: number): (() => void) => {
    const one = { at: this.now + after, call };
    this.waiting.push(one);
    return () => {
      this.waiting = this.waiting.filter((other) => other !== one);
    };
  };

  pass(by: number): void {
    const until = this.now + by;
    for (;;) {
      const next = this.waiting.filter((one) => one.at <= until).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.waiting = this.waiting.filter((one) => one !== next);
      this.now = next.at;
      next.call();
    }
    this.now = until;
  }
}

/** Let everything that is ready run. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}
