// A proposed text, made of the text that stands and the hunks that are open; pure.

import type { ReviewHunk } from "../wire/types";

export interface Span {
  start: { line: number; character: number };
  end: { line: number; character: number };
}

/** As much of a document as is needed to find offsets: the editor's own, or lines of a test. */
export interface Offsets {
  getText(): string;
  offsetAt(position: { line: number; character: number }): number;
}

/**
 * The text with these hunks applied. Only hunks whose old text still stands where they say are
 * taken; line ends of the new text follow those of the document.
 */
export function proposed(document: Offsets, hunks: readonly ReviewHunk[]): string {
  const text = document.getText();
  const crlf = text.includes("\r\n");
  const spans = hunks
    .map((hunk) => ({
      hunk,
      start: document.offsetAt(hunk.range.start),
      end: document.offsetAt(hunk.range.end),
    }))
    .sort((one, other) => other.start - one.start);
  let made = text;
  for (const { hunk, start, end } of spans) {
    const stands = same(text.slice(start, end), hunk.oldText);
    if (!stands) continue;
    const news = crlf ? hunk.newText.replace(/\r?\n/g, "\r\n") : hunk.newText;
    made = made.slice(0, start) + news + made.slice(end);
  }
  return made;
}

/** Equal but for the kind of line ends. */
export function same(one: string, other: string): boolean {
  return one === other || one.replace(/\r\n/g, "\n") === other.replace(/\r\n/g, "\n");
}

/** What the person made of a proposal: left as it was, changed, or all of it taken out again. */
export function verdict(
  base: string,
  proposal: string,
  now: string,
): "as-is" | "changed" | "nothing" {
  if (same(now, proposal)) return "as-is";
  return same(now, base) ? "nothing" : "changed";
}
