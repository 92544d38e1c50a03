// Settings that the server reads when it starts: a change of them offers to start it again.

import * as vscode from "vscode";
import type { Server } from "./server/server";

/** How long a person may go on typing in a setting before it is asked about, in milliseconds. */
const QUIET = 1_000;
const RESTART = "Restart";

export class Restarting implements vscode.Disposable {
  private startedWith: string | undefined;
  private asking = false;
  private quiet: NodeJS.Timeout | undefined;
  private readonly disposables: vscode.Disposable[];

  constructor(
    private readonly server: Server,
    /** All that the server is started with, as one text to compare. */
    private readonly now: () => string,
    private readonly log: (text: string) => void,
  ) {
    this.disposables = [
      server.onState(({ state }) => {
        if (state === "starting") this.startedWith = now();
      }),
    ];
  }

  private get isOutdated(): boolean {
    const { state } = this.server.state;
    return state !== "stopped" && this.startedWith !== undefined && this.startedWith !== this.now();
  }

  /** A setting was changed. */
  changed(): void {
    clearTimeout(this.quiet);
    const offer = (): void => void this.offer().catch((error: unknown) => this.log(String(error)));
    this.quiet = setTimeout(offer, QUIET);
  }

  /**
   * Ask once, whatever is changed meanwhile; a server that did not start is tried again unasked.
   */
  async offer(): Promise<void> {
    if (!this.isOutdated || this.asking) return;
    if (this.server.state.state === "failed") return this.apply();
    this.asking = true;
    try {
      const text =
        "Turnbuckle: the changed settings take effect when its server is restarted. " +
        "That interrupts a running turn.";
      if ((await vscode.window.showInformationMessage(text, RESTART)) === RESTART)
        await this.apply();
    } finally {
      this.asking = false;
    }
  }

  /** Start the server again if it runs with other settings than those that hold now. */
  async apply(): Promise<void> {
    if (this.isOutdated) await this.server.restart();
  }

  dispose(): void {
    clearTimeout(this.quiet);
    for (const one of this.disposables) one.dispose();
  }
}
