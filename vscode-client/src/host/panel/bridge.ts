// Between one panel and the server: a session's values out, the panel's calls in.

import * as vscode from "vscode";
import {
  CALLS,
  VERSION,
  type Action,
  type Chip,
  type FromPanel,
  type PanelSettings,
  type ToPanel,
  type Value,
} from "../../shared/messages";
import type { SessionOpenResult } from "../../wire/types";
import type { Server } from "../server/server";
import { Batcher, realTimer, type Timer } from "./batcher";

/** How many turns a panel is told of at first; older ones it asks for. */
export const TURNS = 20;
/** The panel is asked whether it lives so often, and given up after so long, in milliseconds. */
export const PING = 5_000;
export const PATIENCE = 10_000;

export interface Host {
  server: Server;
  settings(): PanelSettings;
  act(action: Action): Promise<void>;
  /** The session that was shown last in this window, over reloads. */
  remembered(): string | undefined;
  remember(sessionId: string): void;
  /** Load the page again: it answers no longer. */
  reload(): void;
  log(text: string): void;
  timer?: Timer;
}

export class Bridge implements vscode.Disposable {
  private readonly batcher: Batcher;
  private readonly disposables: vscode.Disposable[] = [];
  private subscription: { token: string; values: vscode.Disposable } | undefined;
  private ready = false;
  private visible = true;
  private dirty = false;
  private counter = 0;
  private early: ToPanel[] = [];
  private showing: Promise<void> = Promise.resolve();
  private unheard: (() => void) | undefined;
  private nextPing: (() => void) | undefined;
  sessionId: string | undefined;
  folder: string | undefined;

  constructor(
    private readonly post: (message: ToPanel) => void,
    private readonly host: Host,
  ) {
    const timer = host.timer ?? realTimer;
    this.batcher = new Batcher((batch, values) => {
      if (this.sessionId) this.post({ type: "values", sessionId: this.sessionId, batch, values });
    }, timer);
    this.disposables.push(
      host.server.onState((server) => this.tell({ type: "server", server })),
      host.server.onRunning(() => {
        if (this.ready && this.sessionId) void this.show(this.sessionId);
      }),
    );
  }

  /** Take a message of the panel; what is none of ours is left alone. */
  receive(message: FromPanel): void {
    switch (message.type) {
      case "ready":
        void this.start(message);
        return;
      case "ack":
        this.batcher.acknowledge(message.batch);
        return;
      case "call":
        void this.call(message);
        return;
      case "show":
        this.folder = message.folder;
        void this.show(message.sessionId);
        return;
      case "do":
        void this.host.act(message.action).catch((error: unknown) => this.host.log(String(error)));
        return;
      case "pong":
        this.heard();
    }
  }

  private async start(message: Extract<FromPanel, { type: "ready" }>): Promise<void> {
    if (message.version !== VERSION) {
      this.host.log("the panel is of another version; it is loaded again");
      this.host.reload();
      return;
    }
    this.ready = true;
    const { server } = this.host;
    this.post({ type: "hello", version: VERSION, settings: this.host.settings(), server: server.state });
    for (const one of this.early.splice(0)) this.post(one);
    this.ping();
    await this.show(message.sessionId ?? this.sessionId ?? this.host.remembered(), true);
  }

  /** Show a session, from its facts; a new one without an id. One after the other. */
  show(sessionId: string | undefined, again = false): Promise<void> {
    this.showing = this.showing.then(() => this.display(sessionId, again)).catch((error: unknown) => {
      this.host.log(`the session could not be shown: ${String(error)}`);
    });
    return this.showing;
  }

  private async display(sessionId: string | undefined, again: boolean): Promise<void> {
    await this.leave();
    const opened = await this.open(sessionId, again);
    if (!opened) return;
    this.sessionId = opened.sessionId;
    if (opened.seq >= 0) this.host.remember(opened.sessionId);
    const token = `panel-${process.pid}-${++this.counter}`;
    const early: Value[] = [];
    let told = false;
    const values = this.host.server.onValues(token, (value) => {
      if (told) this.take(value);
      else early.push(value);
    });
    this.subscription = { token, values };
    const events = await this.host.server.request("turnbuckle/session/events", {
      sessionId: opened.sessionId,
      token,
      turns: TURNS,
    });
    this.post({
      type: "session",
      session: { ...opened, from: events.from, ...(this.folder ? { folder: this.folder } : {}) },
    });
    told = true;
    for (const value of early) this.take(value);
  }

  private async open(sessionId: string | undefined, again: boolean): Promise<SessionOpenResult | undefined> {
    const cwd = this.folder;
    try {
      return await this.host.server.request("turnbuckle/session/open", {
        ...(sessionId === undefined ? {} : { sessionId }),
        ...(sessionId === undefined && cwd !== undefined ? { cwd } : {}),
      });
    } catch (error) {
      this.host.log(`the session could not be opened: ${said(error)}`);
      // One that is gone since the window was closed is no reason to show nothing.
      if (again && sessionId !== undefined) return this.open(undefined, false);
      this.post({ type: "refused", id: -1, code: 0, message: said(error) });
      return undefined;
    }
  }

  private take(value: Value): void {
    if (value.type === "turn/start" && this.sessionId) this.host.remember(this.sessionId);
    if (this.visible) this.batcher.add(value);
    else this.dirty = true;
  }

  private async leave(): Promise<void> {
    this.batcher.clear();
    const subscription = this.subscription;
    this.subscription = undefined;
    if (!subscription) return;
    subscription.values.dispose();
    const { server } = this.host;
    if (server.state.state !== "running") return;
    await server
      .request("turnbuckle/session/events/stop", { token: subscription.token })
      .catch(() => undefined);
  }

  private async call(message: Extract<FromPanel, { type: "call" }>): Promise<void> {
    const { id, method, params } = message;
    if (!(CALLS as readonly string[]).includes(method)) {
      this.post({ type: "refused", id, code: -32601, message: `the panel may not ask ${String(method)}` });
      return;
    }
    try {
      const result: unknown = await this.host.server.request(method, params as never);
      this.post({ type: "answer", id, result });
    } catch (error) {
      const { code, data } = error as { code?: number; data?: { kind?: string } };
      const kind = data?.kind;
      this.post({
        type: "refused",
        id,
        code: typeof code === "number" ? code : 0,
        message: said(error),
        ...(kind === undefined ? {} : { kind }),
      });
    }
  }

  /** While nobody sees the panel nothing is posted; when it is seen again it is told anew. */
  setVisible(visible: boolean): void {
    this.visible = visible;
    if (!visible) {
      this.nextPing?.();
      this.unheard?.();
      this.unheard = undefined;
      return;
    }
    if (!this.ready) return;
    this.ping();
    if (this.dirty) {
      this.dirty = false;
      void this.show(this.sessionId, true);
    }
  }

  addChips(chips: Chip[]): void {
    this.tell({ type: "chips", chips });
  }

  found(id: number, chips: Chip[]): void {
    this.tell({ type: "found", id, chips });
  }

  compose(text: string): void {
    this.tell({ type: "compose", text, focus: true });
  }

  focus(): void {
    this.tell({ type: "focus" });
  }

  settingsChanged(): void {
    this.tell({ type: "settings", settings: this.host.settings() });
  }

  private tell(message: ToPanel): void {
    if (this.ready) this.post(message);
    else if (message.type !== "server") this.early.push(message);
  }

  private ping(): void {
    const timer = this.host.timer ?? realTimer;
    this.nextPing?.();
    this.nextPing = timer(() => {
      if (!this.visible) return;
      this.post({ type: "ping", at: Date.now() });
      this.unheard?.();
      this.unheard = timer(() => {
        this.host.log("the panel does not answer; it is loaded again");
        this.ready = false;
        this.host.reload();
      }, PATIENCE);
    }, PING);
  }

  private heard(): void {
    this.unheard?.();
    this.unheard = undefined;
    if (this.visible) this.ping();
  }

  dispose(): void {
    this.nextPing?.();
    this.unheard?.();
    for (const one of this.disposables) one.dispose();
    void this.leave();
  }
}

function said(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
