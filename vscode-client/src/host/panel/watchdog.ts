// Whether the panel's page still lives: it is asked now and then, and loaded again if it is silent.

import type { Timer } from "./batcher";

/** The panel is asked whether it lives so often, and given up after so long, in milliseconds. */
export const PING = 5_000;
export const PATIENCE = 10_000;

export class Watchdog {
  private next: (() => void) | undefined;
  private unheard: (() => void) | undefined;

  constructor(
    private readonly timer: Timer,
    private readonly ask: () => void,
    private readonly dead: () => void,
  ) {}

  /** Ask now. */
  ping(): void {
    this.rest();
    this.ask();
    this.unheard = this.timer(() => {
      this.unheard = undefined;
      this.dead();
    }, PATIENCE);
  }

  /** It lives: ask again in a while. */
  heard(): void {
    this.rest();
    this.next = this.timer(() => this.ping(), PING);
  }

  /** Nobody sees it: it need not answer. */
  rest(): void {
    this.next?.();
    this.unheard?.();
    this.next = this.unheard = undefined;
  }
}
