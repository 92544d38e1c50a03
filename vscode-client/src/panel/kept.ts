// What the panel remembers over a reload of its page.

import type { Anchor, Api, Kept } from "./api";

/** The most cards that are remembered as opened or closed. */
const CARDS = 200;
/** A chip with more text than this is not kept. */
const CHIP_TEXT = 16 * 1024;

export class Keeper {
  private kept: Kept;
  private open: Set<string>;
  private shut: Set<string>;

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
    const chips = this.kept.chips?.filter((chip) => (chip.text?.length ?? 0) <= CHIP_TEXT);
    if (chips) this.kept.chips = chips;
    this.api.setState(this.kept);
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
