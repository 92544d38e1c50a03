// What the panel knows, made of the host's messages; components draw it and change nothing.

import { Reducer } from "../session/reduce";
import { emptyState, type Item, type SessionState } from "../session/state";
import {
  VERSION,
  type Action,
  type Call,
  type Chip,
  type PanelSettings,
  type ServerState,
  type ShownSession,
  type ToPanel,
  type Value,
} from "../shared/messages";
import type { Fact, Requests } from "../wire/types";
import type { Api, Kept } from "./api";

/** A request to the server that was refused. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly code: number,
    readonly kind: string | undefined,
  ) {
    super(message);
  }
}

export interface View {
  settings: PanelSettings;
  server: ServerState;
  session: ShownSession | undefined;
  state: SessionState;
  /** Items of older turns that were asked for, and the first fact of them. */
  older: { items: Item[]; from: number };
  chips: Chip[];
  draft: string;
  page: "chat" | "sessions";
  /** What the person should be told now, beside the transcript. */
  problem: string | undefined;
}

const NO_SETTINGS: PanelSettings = {
  sendKey: "enter",
  showThinking: "collapsed",
  trusted: true,
  folders: [],
};

/** How many facts are read at once when older turns are asked for. */
export const OLDER = 400;

export class Store {
  view: View;
  private reducer = new Reducer();
  private readonly listeners = new Set<() => void>();
  private readonly focusListeners = new Set<() => void>();
  private readonly answers = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  private readonly finds = new Map<number, (chips: Chip[]) => void>();
  private ids = 0;
  private kept: Kept;
  private drawing = false;
  private wanted: (() => void) | undefined;

  constructor(
    private readonly api: Api,
    private readonly frame: (draw: () => void) => void,
  ) {
    this.kept = api.getState() ?? {};
    this.view = {
      settings: NO_SETTINGS,
      server: { state: "starting" },
      session: undefined,
      state: emptyState(),
      older: { items: [], from: 0 },
      chips: [],
      draft: this.kept.draft ?? "",
      page: "chat",
      problem: undefined,
    };
  }

  start(): void {
    const { sessionId } = this.kept;
    this.api.postMessage({
      type: "ready",
      version: VERSION,
      ...(sessionId === undefined ? {} : { sessionId }),
    });
  }

  receive(message: ToPanel): void {
    switch (message.type) {
      case "hello":
        return this.set({ settings: message.settings, server: message.server });
      case "settings":
        return this.set({ settings: message.settings });
      case "server":
        return this.set({ server: message.server });
      case "session":
        return this.show(message.session);
      case "values":
        return this.take(message);
      case "chips":
        return this.addChips(message.chips);
      case "found":
        this.finds.get(message.id)?.(message.chips);
        this.finds.delete(message.id);
        return;
      case "compose":
        this.compose(message.text);
        if (message.focus) this.focus();
        return;
      case "focus":
        return this.focus();
      case "answer":
        this.answers.get(message.id)?.resolve(message.result);
        this.answers.delete(message.id);
        return;
      case "refused":
        return this.refused(message);
      case "ping":
        this.api.postMessage({ type: "pong", at: message.at });
    }
  }

  private refused(message: Extract<ToPanel, { type: "refused" }>): void {
    const waiting = this.answers.get(message.id);
    this.answers.delete(message.id);
    if (waiting) waiting.reject(new Refused(message.message, message.code, message.kind));
    else this.set({ problem: message.message });
  }

  private show(session: ShownSession): void {
    this.reducer = new Reducer();
    // Facts before `from` are not sent: they are older pages.
    this.reducer.state.seq = session.from - 1;
    if (session.title !== undefined) this.reducer.state.title = session.title;
    this.keep({ sessionId: session.sessionId });
    this.set({
      session,
      state: this.reducer.state,
      older: { items: [], from: session.from },
      page: "chat",
      problem: undefined,
    });
    const wanted = this.wanted;
    this.wanted = undefined;
    wanted?.();
  }

  /** Do this with the session that is shown, or as soon as one is. */
  whenShown(use: () => void): void {
    if (this.view.session) use();
    else this.wanted = use;
  }

  private take({ sessionId, batch, values }: { sessionId: string; batch: number; values: Value[] }): void {
    if (sessionId === this.view.session?.sessionId) {
      for (const value of values) this.reducer.apply(value);
      this.set({});
    }
    this.api.postMessage({ type: "ack", batch });
  }

  /** Read the turns before those that are shown. */
  async readOlder(): Promise<void> {
    const { session, older } = this.view;
    if (!session || older.from <= 0) return;
    const facts = await this.page(session.sessionId, older.from);
    if (this.view.session !== session || this.view.older !== older) return;
    const reducer = new Reducer();
    for (const fact of facts) reducer.apply(fact);
    const first = facts[0]?.seq ?? 0;
    this.set({ older: { items: [...reducer.state.items, ...older.items], from: first } });
  }

  /** The facts of whole turns that end before `until`. */
  private async page(sessionId: string, until: number): Promise<Fact[]> {
    let from = Math.max(0, until - OLDER);
    for (;;) {
      const facts: Fact[] = [];
      for (let next = from; next < until; ) {
        const { events } = await this.call("turnbuckle/session/read", { sessionId, from: next, to: until - 1 });
        const page = events as unknown as Fact[];
        if (!page.length) break;
        facts.push(...page);
        next = (page.at(-1)?.seq ?? until) + 1;
      }
      const start = from === 0 ? 0 : facts.findIndex((fact) => fact.type === "turn/start");
      if (start >= 0) return facts.slice(start);
      from = Math.max(0, from - OLDER);
    }
  }

  call<M extends Call>(method: M, params: Requests[M]["params"]): Promise<Requests[M]["result"]> {
    const id = ++this.ids;
    return new Promise((resolve, reject) => {
      this.answers.set(id, { resolve: resolve as (result: unknown) => void, reject });
      this.api.postMessage({ type: "call", id, method, params: params as Record<string, unknown> });
    });
  }

  /** Ask the server for something whose refusal the person should read. */
  async ask<M extends Call>(
    method: M,
    params: Requests[M]["params"],
  ): Promise<Requests[M]["result"] | undefined> {
    try {
      return await this.call(method, params);
    } catch (error) {
      this.set({ problem: error instanceof Error ? error.message : String(error) });
      return undefined;
    }
  }

  do(action: Action): void {
    this.api.postMessage({ type: "do", action });
  }

  findFiles(query: string): Promise<Chip[]> {
    const id = ++this.ids;
    return new Promise((resolve) => {
      this.finds.set(id, resolve);
      this.do({ do: "findFiles", id, query });
    });
  }

  showSession(sessionId?: string, folder?: string): void {
    this.api.postMessage({
      type: "show",
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(folder === undefined ? {} : { folder }),
    });
  }

  setPage(page: View["page"]): void {
    this.set({ page });
  }

  setProblem(problem: string | undefined): void {
    this.set({ problem });
  }

  compose(draft: string): void {
    this.keep({ draft });
    this.set({ draft });
  }

  addChips(chips: Chip[]): void {
    const known = new Set(this.view.chips.map(place));
    this.set({ chips: [...this.view.chips, ...chips.filter((chip) => !known.has(place(chip)))] });
  }

  removeChip(id: string): void {
    this.set({ chips: this.view.chips.filter((chip) => chip.id !== id) });
  }

  clearChips(): void {
    this.set({ chips: [] });
  }

  isOpen(id: string): boolean {
    return this.kept.open?.includes(id) ?? false;
  }

  setOpen(id: string, open: boolean): void {
    const others = (this.kept.open ?? []).filter((one) => one !== id);
    this.keep({ open: open ? [...others, id].slice(-200) : others });
    this.set({});
  }

  private keep(changes: Kept): void {
    this.kept = { ...this.kept, ...changes };
    this.api.setState(this.kept);
  }

  private set(changes: Partial<View>): void {
    this.view = { ...this.view, ...changes };
    if (this.drawing) return;
    this.drawing = true;
    this.frame(() => {
      this.drawing = false;
      for (const listener of this.listeners) listener();
    });
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Only for what the person did: nothing else moves the focus. */
  onFocus(listener: () => void): () => void {
    this.focusListeners.add(listener);
    return () => this.focusListeners.delete(listener);
  }

  private focus(): void {
    for (const listener of this.focusListeners) listener();
  }
}

function place(chip: Chip): string {
  return JSON.stringify([chip.kind, chip.uri, chip.range, chip.text]);
}
