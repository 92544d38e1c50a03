// Between one panel and the server: a session's values out, the panel's calls in.

import * as vscode from "vscode";
import {
  VERSION,
  type Chip,
  type FromPanel,
  type ToPanel,
  type Value,
} from "../../shared/messages";
import type { SessionOpenResult } from "../../wire/types";
import { Batcher, realTimer } from "./batcher";
import { Calls, said } from "./calls";
import type { Host } from "./host";
import { openFirst, shownOf } from "./opening";
import { Subscription } from "./subscription";
import { Takeover } from "./takeover";
import { Watchdog } from "./watchdog";

/** How many turns a panel is told of at first; older ones it asks for. */
export const TURNS = 20;

export class Bridge implements vscode.Disposable {
  private readonly batcher: Batcher;
  private readonly calls: Calls;
  private readonly takeover: Takeover;
  private readonly watchdog: Watchdog;
  private readonly disposables: vscode.Disposable[] = [];
  private subscription: Subscription | undefined;
  private ready = false;
  private visible = true;
  private early: ToPanel[] = [];
  private showing: Promise<void> = Promise.resolve();
  /** What the page had shown before it was made anew; it may be older than what we know. */
  private stale: string | undefined;
  /** How many messages the panel has sent, and how many when an empty session was opened. */
  private used = 0;
  private unused: number | undefined;
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
    this.calls = new Calls(host.server, post, () => this.showing);
    this.takeover = new Takeover(host.server, timer);
    this.watchdog = new Watchdog(
      timer,
      () => this.post({ type: "ping", at: Date.now() }),
      () => this.reload("the panel does not answer"),
    );
    this.disposables.push(
      host.sessions.onChanged(() => this.tellSessions()),
      host.server.onState((server) => this.tell({ type: "server", server })),
      host.server.onRunning(() => {
        const { sessionId } = this;
        // What started the server may show another one by then.
        const isShown = (): boolean => sessionId === this.sessionId;
        if (this.ready) void this.inTurn(async () => (isShown() ? this.first() : undefined));
      }),
    );
  }

  /** Take a message of the panel; what is none of ours is left alone. */
  receive(message: FromPanel): void {
    switch (message.type) {
      case "ready":
        return void this.start(message);
      case "ack":
        return this.batcher.acknowledge(message.batch);
      case "call":
        if (message.method === "turnbuckle/turn") this.used++;
        return void this.calls.pass(message);
      case "show":
        if (message.sessionId === undefined) return void this.showNew(message.folder);
        this.folder = message.folder;
        return void this.show(message.sessionId);
      case "do":
        return void this.host.act(message.action).catch((error) => this.host.log(String(error)));
      case "pong":
        this.heard();
    }
  }

  private heard(): void {
    if (!this.visible) return;
    this.watchdog.heard();
    if (this.ready) return;
    // It was hidden and has come back without being made anew; what it missed is told again.
    this.ready = true;
    void this.show(this.sessionId, true);
  }

  private tellSessions(): void {
    if (!this.ready) return;
    const sessions = this.host.sessions.all.map(({ sessionId, state }) => ({ sessionId, state }));
    this.post({ type: "sessions", sessions });
  }

  private async start(message: Extract<FromPanel, { type: "ready" }>): Promise<void> {
    if (message.version !== VERSION) return this.reload("the panel is of another version");
    this.ready = true;
    const settings = this.host.settings();
    this.post({ type: "hello", version: VERSION, settings, server: this.host.server.state });
    this.tellSessions();
    for (const one of this.early.splice(0)) this.post(one);
    if (this.visible) this.watchdog.heard();
    this.stale = message.sessionId;
    await this.inTurn(() => this.first());
  }

  private reload(why: string): void {
    this.host.log(`${why}; it is loaded again`);
    this.ready = false;
    this.host.reload();
  }

  private first(): Promise<void> {
    return this.display(this.sessionId ?? this.host.remembered() ?? this.stale, true);
  }

  /**
   * Show a session, from its facts; a new one without an id. One after the other. One that is
   * shown `again` may be gone: then it is what the page itself had shown, or a new one.
   */
  show(sessionId: string | undefined, again = false): Promise<void> {
    return this.inTurn(() => this.display(sessionId, again));
  }

  private inTurn(next: () => Promise<void>): Promise<void> {
    this.showing = this.showing.then(next).catch((error: unknown) => {
      this.host.log(`the session could not be shown: ${said(error)}`);
    });
    return this.showing;
  }

  /** Show a new session; one that nothing was sent to when this was asked is as good as new. */
  showNew(folder?: string): Promise<void> {
    const { used } = this;
    return this.inTurn(async () => {
      const isNew = this.unused !== undefined && used <= this.unused && folder === this.folder;
      this.folder = folder;
      await this.display(isNew ? this.sessionId : undefined, isNew);
    });
  }

  private async display(sessionId: string | undefined, again: boolean): Promise<void> {
    const { sessionId: before, unused, stale } = this;
    const opened = await this.open(sessionId, again);
    await this.leave();
    this.stale = undefined;
    // A server that was started again knows no session in which nothing was said.
    const isGone = again && ![sessionId, stale].includes(opened.sessionId);
    const instead = isGone ? (stale ?? before) : undefined;
    if (instead && unused !== undefined) this.calls.readdress(instead, opened.sessionId);
    if (opened.seq >= 0) this.unused = undefined;
    else if (opened.sessionId !== before) this.unused = this.used;
    this.sessionId = opened.sessionId;
    this.host.remember(opened.sessionId, opened.seq >= 0);
    const subscription = new Subscription(this.host.server, (value) => this.take(value));
    this.subscription = subscription;
    const from = await subscription.begin(opened.sessionId, TURNS);
    const session = shownOf(opened, from, this.folder);
    this.post({ type: "session", session, ...(instead ? { instead } : {}) });
    subscription.flow();
    if (opened.readOnly && opened.damaged === undefined) {
      this.takeover.wait(opened.sessionId, () => void this.show(opened.sessionId, true));
    }
  }

  private async open(sessionId: string | undefined, again: boolean): Promise<SessionOpenResult> {
    const { server, log } = this.host;
    try {
      // The one that the person chose is opened, or it is said why not.
      if (sessionId !== undefined && !again)
        return await server.request("turnbuckle/session/open", { sessionId });
      return await openFirst(server, again ? [sessionId, this.stale] : [], this.folder, log);
    } catch (error) {
      this.post({ type: "refused", id: -1, code: 0, message: said(error) });
      throw error;
    }
  }

  private take(value: Value): void {
    if (value.type === "turn/start" && this.sessionId) {
      this.unused = undefined;
      this.host.remember(this.sessionId, true);
    }
    // A page that is hidden is thrown away; when it is seen again it is told all of it.
    if (this.ready) this.batcher.add(value);
  }

  private async leave(): Promise<void> {
    this.batcher.clear();
    this.takeover.stop();
    const { subscription } = this;
    this.subscription = undefined;
    await subscription?.end();
  }

  /**
   * While nobody sees the panel nothing is posted: its page is thrown away, and one that is made
   * anew says that it is ready. What is to be told meanwhile waits for that.
   */
  setVisible(visible: boolean): void {
    if (visible === this.visible) return;
    this.visible = visible;
    this.ready = false;
    this.batcher.clear();
    if (visible) return this.watchdog.ping();
    this.watchdog.rest();
    this.takeover.stop();
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

  dispose(): void {
    this.watchdog.rest();
    for (const one of this.disposables) one.dispose();
    void this.leave();
  }
}
