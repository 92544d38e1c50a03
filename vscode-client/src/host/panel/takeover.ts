// A session that another server still writes, such as that of the window before a reload.

import type { Server } from "../server/server";
import type { Timer } from "./batcher";

/** The first and the longest time between two tries, in milliseconds. */
export const FIRST = 300;
export const LONGEST = 10_000;

/** Names no message: the server only makes sure that it may write the session, and says so. */
const NO_MESSAGE = "take-over";

/** Tries until the writer is gone and the session is this server's. */
export class Takeover {
  private cancel: (() => void) | undefined;
  private round = 0;

  constructor(
    private readonly server: Server,
    private readonly timer: Timer,
  ) {}

  /** Calls once when the session can be written. */
  wait(sessionId: string, then: () => void): void {
    this.stop();
    this.plan(sessionId, then, FIRST, this.round);
  }

  stop(): void {
    this.round++;
    this.cancel?.();
    this.cancel = undefined;
  }

  private plan(sessionId: string, then: () => void, after: number, round: number): void {
    this.cancel = this.timer(() => {
      void this.attempt(sessionId).then((came) => {
        if (round !== this.round || came === "never") return;
        if (came === "taken") then();
        else this.plan(sessionId, then, Math.min(2 * after, LONGEST), round);
      });
    }, after);
  }

  private async attempt(sessionId: string): Promise<"taken" | "later" | "never"> {
    try {
      await this.server.request("turnbuckle/inbox/edit", {
        sessionId,
        key: NO_MESSAGE,
        remove: true,
      });
      return "taken";
    } catch (error) {
      const kind = (error as { data?: { kind?: string } }).data?.kind;
      return kind === "readOnly" || kind === "store" ? "later" : "never";
    }
  }
}
