// The items of a session and how often each has changed: what is drawn again, and what is not.

import { emptyState, type Item, type SessionState } from "./state";

export class Items {
  constructor(readonly state: SessionState = emptyState()) {}

  push(item: Item): void {
    // Ids are made of turn and step, so that what was opened stays open after a reload.
    if (this.state.revisions.has(item.id)) item.id = `${item.id}-${item.seq}`;
    this.state.items.push(item);
    this.touch(item);
  }

  remove(items: Item[]): void {
    if (!items.length) return;
    const ids = new Set(items.map((one) => one.id));
    this.state.items = this.state.items.filter((one) => !ids.has(one.id));
    for (const id of ids) this.state.revisions.delete(id);
  }

  touch(item: Item): void {
    this.state.revisions.set(item.id, (this.state.revisions.get(item.id) ?? 0) + 1);
  }

  notice(seq: number, text: string, detail?: string): void {
    const id = `notice-${seq}`;
    this.push({ kind: "notice", id, seq, text, ...(detail === undefined ? {} : { detail }) });
  }
}
