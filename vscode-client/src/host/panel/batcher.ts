// Values on their way to the panel: gathered, chunks merged, and never more than it can take.

import type { Fact } from "../../wire/types";
import type { Value } from "../../shared/messages";

/** How long values are gathered before they are posted, in milliseconds. */
export const GATHER = 40;
/** How many batches may be on their way before the next one waits for an answer. */
export const UNACKNOWLEDGED = 4;

export interface Timer {
  /** Calls once after so many milliseconds; gives what cancels it. */
  (call: () => void, after: number): () => void;
}

export const realTimer: Timer = (call, after) => {
  const id = setTimeout(call, after);
  return () => clearTimeout(id);
};

/**
 * Gathers values and posts them in batches. While too many batches are unacknowledged, values wait
 * here, merged; nothing is dropped but notes.
 */
export class Batcher {
  private waiting: Value[] = [];
  private sent = 0;
  private acknowledged = 0;
  private cancel: (() => void) | undefined;

  constructor(
    private readonly post: (batch: number, values: Value[]) => void,
    private readonly timer: Timer = realTimer,
  ) {}

  add(value: Value): void {
    const merged = mergeable(this.waiting.at(-1), value);
    if (merged) this.waiting[this.waiting.length - 1] = merged;
    else this.waiting.push(value);
    this.plan();
  }

  acknowledge(batch: number): void {
    this.acknowledged = Math.max(this.acknowledged, Math.min(batch, this.sent));
    if (this.waiting.length) this.plan();
  }

  /** Forget what waits: the panel is hidden or shows something else. */
  clear(): void {
    this.cancel?.();
    this.cancel = undefined;
    this.waiting = [];
    this.acknowledged = this.sent;
  }

  private plan(): void {
    if (this.cancel || this.sent - this.acknowledged >= UNACKNOWLEDGED) return;
    this.cancel = this.timer(() => {
      this.cancel = undefined;
      const values = this.waiting;
      this.waiting = [];
      if (values.length) this.post(++this.sent, values);
    }, GATHER);
  }
}

type Chunk = Extract<Fact, { type: "assistant/chunk" }>;

/** Two values as one that tells the same: text of one answer, output of one call, a status. */
function mergeable(last: Value | undefined, next: Value): Value | undefined {
  if (!last || last.type !== next.type) return undefined;
  if (last.type === "assistant/chunk" && next.type === "assistant/chunk") return chunks(last, next);
  if (last.type === "tool/output" && next.type === "tool/output") {
    if (last.data.callId !== next.data.callId) return undefined;
    const { callId } = last.data;
    return { type: "tool/output", data: { callId, text: last.data.text + next.data.text } };
  }
  return last.type === "status" ? next : undefined;
}

function chunks(last: Chunk, next: Chunk): Chunk | undefined {
  const same = last.data.turn === next.data.turn && last.data.step === next.data.step;
  if (!same || last.data.toolCalls || next.data.toolCalls) return undefined;
  const text = (last.data.text ?? "") + (next.data.text ?? "");
  const reasoning = (last.data.reasoning ?? "") + (next.data.reasoning ?? "");
  return {
    ...next,
    data: { ...next.data, ...(text ? { text } : {}), ...(reasoning ? { reasoning } : {}) },
  };
}
