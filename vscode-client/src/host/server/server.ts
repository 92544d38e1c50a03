// The language server as the rest of the extension sees it: started when wanted, asked, watched.

import * as vscode from "vscode";
import type { ServerState, Value } from "../../shared/messages";
import type { Requests } from "../../wire/types";
import type { Launch } from "./launch";

/** How often the server may end within this time (milliseconds) before it is left alone. */
export const CRASHES = 4;
export const CRASH_TIME = 3 * 60_000;

/** What the server is told of us besides the capabilities of the editor. */
export interface ClientOptions {
  trusted: boolean;
  settings: Record<string, unknown>;
}

/** Asks a server that may not run yet; every method starts it. */
export interface Server extends vscode.Disposable {
  readonly state: ServerState;
  readonly onState: vscode.Event<ServerState>;
  /** The server is there, for the first time or again: what it knew of us is gone. */
  readonly onRunning: vscode.Event<void>;
  start(): Promise<void>;
  restart(): Promise<void>;
  request<M extends keyof Requests>(
    method: M,
    params: Requests[M]["params"],
    token?: vscode.CancellationToken,
  ): Promise<Requests[M]["result"]>;
  /** Values on a token of ours, until disposed. */
  onValues(token: string, handler: (value: Value) => void): vscode.Disposable;
}

/** One process of the server, which is never started twice. */
export interface Connection {
  start(): Promise<void>;
  /** Ends it, and waits until it is gone. */
  stop(): Promise<void>;
  request(method: string, params: unknown, token?: vscode.CancellationToken): Promise<unknown>;
  onValues(token: string, handler: (value: Value) => void): vscode.Disposable;
}

export interface Connecting {
  launch: Launch;
  options: ClientOptions;
  output: vscode.LogOutputChannel;
  save(uris: string[]): Promise<{ saved: string[]; failed: string[] }>;
  /** Whether code actions that ask the agent are offered. */
  asks(): boolean;
  /** The process ended, or its connection did. */
  closed(): void;
}

export type Connect = (connecting: Connecting) => Connection;

export interface Starting {
  find(): Promise<Launch>;
  options(): ClientOptions;
  output: vscode.LogOutputChannel;
  save: Connecting["save"];
  asks: Connecting["asks"];
  /** Gives what makes connections; it is large, so it is loaded when it is first wanted. */
  load(): Promise<Connect>;
  now?: () => number;
}

interface Listener {
  handler(value: Value): void;
  /** Its place at the connection that there is now. */
  listening?: vscode.Disposable | undefined;
}

export class LanguageServer implements Server {
  private connection: Connection | undefined;
  private starting: Promise<void> | undefined;
  private stopping: Promise<void> = Promise.resolve();
  private readonly states = new vscode.EventEmitter<ServerState>();
  private readonly running = new vscode.EventEmitter<void>();
  private readonly handlers = new Map<string, Listener>();
  /** What waits for an answer, and would wait for ever where a server ended without a word. */
  private readonly asked = new Set<(error: Error) => void>();
  private crashes: number[] = [];
  private over = false;
  state: ServerState = { state: "stopped" };
  readonly onState = this.states.event;
  readonly onRunning = this.running.event;

  constructor(private readonly parts: Starting) {}

  start(): Promise<void> {
    if (this.over) return Promise.reject(new Error("Turnbuckle ends with this window."));
    if (this.starting) return this.starting;
    const starting = this.begin().catch((error: unknown) => {
      if (this.starting === starting) this.starting = undefined;
      this.parts.output.error(said(error));
      this.set({ state: "failed", message: said(error) });
      throw error;
    });
    this.starting = starting;
    return starting;
  }

  private async begin(): Promise<void> {
    this.set({ state: "starting" });
    const { find, options, output, save, asks, load } = this.parts;
    // The one before holds the sessions until it is gone.
    await this.stopping;
    const [launch, connect] = await Promise.all([find(), load()]);
    const connection: Connection = connect({
      launch,
      options: options(),
      output,
      save,
      asks,
      closed: () => this.closed(connection),
    });
    this.connection = connection;
    for (const [token, one] of this.handlers)
      one.listening = connection.onValues(token, one.handler);
    try {
      await connection.start();
    } catch (error) {
      this.leave(connection);
      throw error;
    }
    this.set({ state: "running" });
    this.running.fire();
  }

  /** One that ran and ended unasked is started again, a few times. */
  private closed(connection: Connection): void {
    if (this.connection !== connection || this.state.state !== "running") return;
    this.starting = undefined;
    this.leave(connection);
    if (this.over || !this.mayRestart()) return;
    this.parts.output.warn("the server ended unasked; it is started again");
    this.start().catch(() => undefined); // it is shown as the state
  }

  private leave(connection: Connection): void {
    this.connection = undefined;
    this.stopping = connection
      .stop()
      .catch((error: unknown) => this.parts.output.warn(said(error)))
      .then(() => {
        for (const refuse of this.asked) refuse(new Error("The server ended."));
      });
  }

  private mayRestart(): boolean {
    const now = (this.parts.now ?? Date.now)();
    this.crashes = [...this.crashes.filter((at) => now - at < CRASH_TIME), now];
    if (this.crashes.length < CRASHES) return true;
    this.set({
      state: "failed",
      message: `The server ended ${this.crashes.length} times within three minutes. Its log says why.`,
    });
    return false;
  }

  async restart(): Promise<void> {
    this.crashes = [];
    await this.stop();
    await this.start();
  }

  /** End the server, and wait until it is gone. */
  private async stop(): Promise<void> {
    const { starting } = this;
    await starting?.catch(() => undefined);
    // Only the first of several that wait here stops it.
    if (this.starting === starting) {
      this.starting = undefined;
      if (this.connection) {
        this.leave(this.connection);
        this.set({ state: "stopped" });
      }
    }
    await this.stopping;
  }

  async request<M extends keyof Requests>(
    method: M,
    params: Requests[M]["params"],
    token?: vscode.CancellationToken,
  ): Promise<Requests[M]["result"]> {
    await this.start();
    const { connection } = this;
    if (!connection) throw new Error("The server does not run.");
    return new Promise((resolve, reject) => {
      this.asked.add(reject);
      void connection
        .request(method, params, token)
        .then((result) => resolve(result as Requests[M]["result"]), reject)
        .finally(() => this.asked.delete(reject));
    });
  }

  onValues(token: string, handler: (value: Value) => void): vscode.Disposable {
    const one: Listener = { handler, listening: this.connection?.onValues(token, handler) };
    this.handlers.set(token, one);
    return new vscode.Disposable(() => {
      this.handlers.delete(token);
      one.listening?.dispose();
    });
  }

  private set(state: ServerState): void {
    this.state = state;
    this.states.fire(state);
  }

  /** For the end of the extension: nothing starts it any more. */
  async close(): Promise<void> {
    this.over = true;
    await this.stop();
  }

  dispose(): void {
    void this.close();
    this.states.dispose();
    this.running.dispose();
  }
}

function said(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
