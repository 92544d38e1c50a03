// What the panel remembers over a reload of its page.

import type { Chip } from "../shared/messages";
import type { Anchor, Api, Kept, Written } from "./api";

/** The most cards that are remembered as opened or closed. */
const CARDS = 200;
/** The most sessions whose drafts are remembered. */
const DRAFTS = 20;
/** A chip with more text than this is not kept, nor pictures with more of it together. */
const CHIP_TEXT = 16 * 1024;
const PICTURES = 1024 * 1024;

export class Keeper {
  private kept: Kept;
  private open: Set<string>;
  private shut: Set<string>;
  private readonly places = new Map<string, string>();

  constructor(private readonly api: Api) {
    this.kept = api.getState() ?? {};
    this.open = new Set(this.kept.open);
    this.shut = new Set(this.kept.shut);
  }

  get state(): Readonly<Kept> {
    return this.kept;
  }

  keep(changes: Kept): void {
    this.kept = { ...this.kept, ...changes };
    if (this.kept.chips) this.kept.chips = small(this.kept.chips);
    this.api.setState(this.kept);
  }

  /** A session is gone, and another stands for it: what comes back from there belongs to that. */
  moved(from: string, to: string): void {
    this.places.set(from, to);
  }

  movedTo(sessionId: string): string {
    return this.places.get(sessionId) ?? sessionId;
  }

  /** What is written stays with the session that is left; gives what was written in the other. */
  change(from: string, to: string): Written {
    const { draft = "", chips = [], drafts = {} } = this.kept;
    const { [to]: there = { draft: "", chips: [] }, ...others } = drafts;
    this.keep({ ...there, drafts: { ...others } });
    if (draft.trim() || chips.length) this.putBack(from, { draft, chips });
    return there;
  }

  /** What is written in a session that is not shown, before what is written there already. */
  putBack(sessionId: string, written: Written): void {
    const { [sessionId]: there, ...others } = this.kept.drafts ?? {};
    const draft = joined(written.draft, there?.draft ?? "");
    const kept = { draft, chips: [...written.chips, ...(there?.chips ?? [])] };
    const room = { left: PICTURES };
    const all = Object.entries({ ...others, [sessionId]: kept })
      .slice(-DRAFTS)
      .reverse();
    const fit = all.map(([id, one]) => [id, { ...one, chips: small(one.chips, room) }] as const);
    this.keep({ drafts: Object.fromEntries(fit.reverse()) });
  }

  anchorAt(anchor: Anchor | undefined): void {
    const { anchor: before } = this.kept;
    if (anchor?.id === before?.id && anchor?.offset === before?.offset) return;
    this.keep({ anchor });
  }

  /** Whether a card is open: as the person left it, else as it is by itself. */
  isOpen(id: string, byItself = false): boolean {
    return this.open.has(id) || (byItself && !this.shut.has(id));
  }

  /** How the person left a card, if they touched it. */
  left(id: string): boolean | undefined {
    return this.open.has(id) ? true : this.shut.has(id) ? false : undefined;
  }

  setOpen(id: string, open: boolean): void {
    const [into, from] = open ? [this.open, this.shut] : [this.shut, this.open];
    from.delete(id);
    into.delete(id); // the one that was touched last stays longest
    into.add(id);
    this.open = new Set([...this.open].slice(-CARDS));
    this.shut = new Set([...this.shut].slice(-CARDS));
    this.keep({ open: [...this.open], shut: [...this.shut] });
  }
}

/** Two texts as one; the same text once. */
export function joined(one: string, other: string): string {
  if (!one.trim() || one === other) return other || one;
  return other.trim() ? `${one.trimEnd()}\n\n${other}` : one;
}

function small(chips: Chip[], room = { left: PICTURES }): Chip[] {
  return chips.filter(({ text = "", data = "" }) => {
    const fits = text.length <= CHIP_TEXT && data.length <= room.left;
    if (fits) room.left -= data.length;
    return fits;
  });
}
