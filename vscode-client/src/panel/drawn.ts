// What is drawn, and who draws it: components look again once a frame after something changed.

import type { View } from "./view";

export class Drawn {
  private readonly listeners = new Set<() => void>();
  private readonly focusListeners = new Set<() => void>();
  private drawing = false;
  private focusWanted = false;

  constructor(
    public view: View,
    private readonly frame: (draw: () => void) => void,
  ) {}

  protected set(changes: Partial<View>): void {
    this.view = { ...this.view, ...changes };
    if (this.drawing) return;
    this.drawing = true;
    this.frame(() => {
      this.drawing = false;
      for (const listener of [...this.listeners]) listener();
    });
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Only for what the person did: nothing else moves the focus. */
  onFocus(listener: () => void): () => void {
    this.focusListeners.add(listener);
    if (this.focusWanted) this.focus();
    return () => this.focusListeners.delete(listener);
  }

  /** To the composer, or to the one that comes next where there is none now. */
  focus(): void {
    this.focusWanted = !this.focusListeners.size;
    for (const listener of this.focusListeners) listener();
  }
}
