/** A session as a client has it: a reducer over the values that arrive for it. */

import { randomUUID } from "node:crypto";

import { CancellationTokenSource } from "vscode-languageserver-protocol/node";

import { Seen } from "./wait.mjs";

/** One session in one editor. */
export class Session {
  values = new Seen();

  constructor(editor, opened) {
    this.editor = editor;
    this.opened = opened;
    this.id = opened.sessionId;
  }

  /** Subscribes to its events; `after` and `turns` say what is not wanted. */
  async subscribe(params = {}) {
    this.token = this.editor.nextToken();
    this.editor.onValues(this.token, (value) => this.values.add(value));
    const request = { sessionId: this.id, token: this.token, ...params };
    this.range = await this.editor.request("turnbuckle/session/events", request);
  }

  /** Sends a message; the answer comes when its turn has ended. `cancel()` is beside it. */
  turn(text, params = {}) {
    const source = new CancellationTokenSource();
    const input = [{ type: "text", text }];
    const request = { sessionId: this.id, key: randomUUID(), input, ...params };
    const answer = this.editor.request("turnbuckle/turn", request, source.token);
    answer.catch(() => {}); // whoever wants to know awaits it
    return Object.assign(answer, { key: request.key, cancel: () => source.cancel() });
  }

  /** Sends a message and gives the whole turn's end. */
  async ended(text, params) {
    return (await this.turn(text, params)).end;
  }

  /** The facts that arrived: what is no note. */
  get facts() {
    return this.values.items.filter((value) => value.seq !== undefined);
  }

  /** The facts of one type that arrived. */
  all(type) {
    return this.facts.filter((fact) => fact.type === type);
  }

  /** The data of the first fact of a type that fits, now or later. */
  async fact(type, fits = () => true) {
    const found = await this.values.find((v) => v.type === type && fits(v.data), `a ${type}`);
    return found.data;
  }

  /** The text of the chunks that arrived. */
  get streamed() {
    return this.all("assistant/chunk")
      .map((fact) => fact.data.text ?? "")
      .join("");
  }

  stored() {
    return this.editor.stored(this.id);
  }
}
