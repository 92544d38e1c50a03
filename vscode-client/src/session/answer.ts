// The answer that is being written, of which there is one at most.

import type { Items } from "./items";
import type { AssistantItem } from "./state";

export class Answer {
  private item: AssistantItem | undefined;

  constructor(private readonly items: Items) {}

  /** The one that is being written, begun if there is none. */
  open(seq: number, turn: number, step: number): AssistantItem {
    if (!this.item) {
      this.item = {
        kind: "assistant",
        id: `answer-${turn}-${step}`,
        seq,
        turn,
        step,
        text: "",
        reasoning: "",
        streaming: true,
        interrupted: false,
      };
      this.items.push(this.item);
    }
    return this.item;
  }

  close(): void {
    if (!this.item) return;
    this.item.streaming = false;
    this.items.touch(this.item);
    this.item = undefined;
  }

  /** What it had said is no part of the session. */
  drop(): void {
    if (this.item) this.items.remove([this.item]);
    this.item = undefined;
  }
}
