// What the panel knows, made of the host's messages; components draw it and change nothing.

import { Reducer } from "../session/reduce";
import {
  VERSION,
  type Action,
  type Call,
  type Chip,
  type ShownSession,
  type ToPanel,
} from "../shared/messages";
import type { EffectiveConfig, Requests } from "../wire/types";
import type { Api, Written } from "./api";
import { Calling } from "./calling";
import { Drawn } from "./drawn";
import { joined, Keeper } from "./kept";
import { before as turnsBefore } from "./older";
import { fitted } from "./pictures";
import { blank, placeOf, type Page } from "./view";

export { Refused } from "./calling";
export type { Page, View } from "./view";

export class Store extends Drawn {
  readonly keeper: Keeper;
  private reducer = new Reducer();
  /** The same session told anew: it takes the place of what is shown once it is whole. */
  private next: Reducer | undefined;
  private readonly calling: Calling;
  private wanted: (() => void) | undefined;

  constructor(
    private readonly api: Api,
    frame: (draw: () => void) => void,
  ) {
    const keeper = new Keeper(api);
    super(blank(keeper.state.draft ?? "", keeper.state.chips ?? []), frame);
    this.keeper = keeper;
    this.calling = new Calling((message) => api.postMessage(message));
  }

  start(): void {
    const { sessionId } = this.keeper.state;
    const shown = sessionId === undefined ? {} : { sessionId };
    this.api.postMessage({ type: "ready", version: VERSION, ...shown });
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
        return this.show(message.session, message.instead);
      case "sessions":
        return this.set({ notes: message.sessions });
      case "values":
        return this.take(message);
      case "chips":
        this.setPage("chat");
        return void Promise.all(message.chips.map(fitted)).then((chips) => this.addChips(chips));
      case "found":
        return this.calling.found(message);
      case "compose":
        this.suggest(message.text);
        return message.focus ? this.back() : this.setPage("chat");
      case "focus":
        return this.back();
      case "answer":
        return this.calling.answered(message);
      case "refused":
        return this.calling.refused(message) ? undefined : this.setProblem(message.message);
      case "ping":
        this.api.postMessage({ type: "pong", at: message.at });
    }
  }

  private show(session: ShownSession, instead?: string): void {
    if (instead !== undefined) this.keeper.moved(instead, session.sessionId);
    const reducer = new Reducer();
    reducer.begin(session);
    const shown = this.view.session?.sessionId;
    const before = shown ?? this.keeper.state.sessionId;
    if (session.sessionId === shown && this.view.state.live) {
      // What is read stays on the screen until the same is there anew.
      this.next = reducer;
      this.set({ session });
      return;
    }
    this.reducer = reducer;
    this.next = undefined;
    if (session.sessionId !== this.keeper.state.sessionId) {
      this.keeper.keep({ sessionId: session.sessionId, anchor: undefined });
    }
    // What was written before any session was there goes along into the first one.
    const other = before !== undefined && before !== session.sessionId && before !== instead;
    this.set({
      ...(other ? this.keeper.change(before, session.sessionId) : {}),
      session,
      state: reducer.state,
      older: { items: [], from: session.from },
      page: "chat",
      waits: false,
      problem: undefined,
    });
    const wanted = this.wanted;
    this.wanted = undefined;
    wanted?.();
  }

  /** Do this with the session that is shown, or as soon as one is. */
  whenShown(use: () => void): void {
    if (this.view.session) return use();
    this.wanted = use;
    this.set({ waits: true });
  }

  private take({ sessionId, batch, values }: Extract<ToPanel, { type: "values" }>): void {
    if (sessionId === this.view.session?.sessionId) {
      const reducer = this.next ?? this.reducer;
      for (const value of values) reducer.apply(value);
      if (this.next?.state.live) this.swap(this.next);
      this.set({ version: this.view.version + 1 });
    }
    this.api.postMessage({ type: "ack", batch });
  }

  private swap(next: Reducer): void {
    const from = this.view.session?.from ?? 0;
    this.reducer = next;
    this.next = undefined;
    this.set({ state: next.state, older: { items: [], from } });
  }

  /** Read the turns before those that are shown. */
  async readOlder(): Promise<void> {
    const { session, older } = this.view;
    if (!session || older.from <= 0) return;
    const more = await turnsBefore(this.calling, session.sessionId, older);
    if (this.view.session === session && this.view.older === older) this.set({ older: more });
  }

  call<M extends Call>(method: M, params: Requests[M]["params"]): Promise<Requests[M]["result"]> {
    return this.calling.call(method, params);
  }

  /** Ask the server for something whose refusal the person should read. */
  async ask<M extends Call>(
    method: M,
    params: Requests[M]["params"],
  ): Promise<Requests[M]["result"] | undefined> {
    try {
      return await this.call(method, params);
    } catch (error) {
      this.setProblem(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  findFiles(query: string): Promise<Chip[]> {
    return this.calling.findFiles(query);
  }

  do(action: Action): void {
    this.api.postMessage({ type: "do", action });
  }

  showSession(sessionId?: string, folder?: string): void {
    this.api.postMessage({
      type: "show",
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(folder === undefined ? {} : { folder }),
    });
  }

  setPage(page: Page): void {
    this.set({ page });
  }

  /** To the conversation, ready to write. */
  back(): void {
    this.setPage("chat");
    this.focus();
  }

  setStopping(stopping: string | undefined): void {
    this.set({ stopping });
  }

  setProblem(problem: string | undefined): void {
    this.set({ problem });
  }

  /** What the session's next request is sent with, as the server said. */
  configured(config: EffectiveConfig): void {
    const { session } = this.view;
    if (session) this.set({ session: { ...session, config } });
  }

  compose(draft: string): void {
    this.keeper.keep({ draft });
    this.set({ draft });
  }

  /** What was sent in a session and not taken; what was written since stands behind it. */
  putBack(sentTo: string, { draft, chips }: Written): void {
    const sessionId = this.keeper.movedTo(sentTo);
    if (this.view.session?.sessionId !== sessionId) {
      this.keeper.putBack(sessionId, { draft, chips });
    } else {
      this.compose(joined(draft, this.view.draft));
      this.addChips(chips);
    }
  }

  /** Put text into the composer without losing what is written there. */
  suggest(text: string): void {
    this.compose(joined(this.view.draft, text));
  }

  addChips(chips: Chip[]): void {
    const known = new Set(this.view.chips.map(placeOf));
    this.setChips([...this.view.chips, ...chips.filter((chip) => !known.has(placeOf(chip)))]);
  }

  removeChip(id: string): void {
    this.setChips(this.view.chips.filter((chip) => chip.id !== id));
  }

  clearChips(): void {
    this.setChips([]);
  }

  private setChips(chips: Chip[]): void {
    this.keeper.keep({ chips });
    this.set({ chips });
  }

  isOpen(id: string, byItself = false): boolean {
    return this.keeper.isOpen(id, byItself);
  }

  setOpen(id: string, open: boolean): void {
    this.keeper.setOpen(id, open);
    this.set({ version: this.view.version + 1 });
  }
}
