// The values of one session, from the server to whoever shows it, in their order.

import type * as vscode from "vscode";
import type { Value } from "../../shared/messages";
import type { Server } from "../server/server";

let counter = 0;

export class Subscription {
  private readonly token = `panel-${process.pid}-${++counter}`;
  private readonly listening: vscode.Disposable;
  /** Those that came before they could be taken. */
  private early: Value[] | undefined = [];

  constructor(
    private readonly server: Server,
    private readonly take: (value: Value) => void,
  ) {
    this.listening = server.onValues(this.token, (value) => {
      if (this.early) this.early.push(value);
      else take(value);
    });
  }

  /** Ask for the last turns and what follows; gives the first fact that will come. */
  async begin(sessionId: string, turns: number): Promise<number> {
    const params = { sessionId, token: this.token, turns };
    return (await this.server.request("turnbuckle/session/events", params)).from;
  }

  /** Let values pass, those that came already first. */
  flow(): void {
    const early = this.early ?? [];
    this.early = undefined;
    for (const value of early) this.take(value);
  }

  async end(): Promise<void> {
    this.listening.dispose();
    if (this.server.state.state !== "running") return;
    await this.server
      .request("turnbuckle/session/events/stop", { token: this.token })
      .catch(() => undefined); // it is gone with its session or its server
  }
}
