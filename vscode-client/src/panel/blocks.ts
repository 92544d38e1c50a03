// Streaming Markdown in blocks: all but the last one are finished, and are rendered once.

/** A list or quote that is longer than this is cut between two of its lines, in characters. */
const LONG = 2_000;

/**
 * Splits Markdown where no construct can reach over: at blank lines outside of fences, lists and
 * quotes, and before and after code at the margin. What is added to a text later can only change
 * the last block. Only very long lists are cut inside, between two items.
 */
export function blocks(text: string): string[] {
  const found: string[] = [];
  let start = 0;
  let fence: string | undefined;
  let at = 0;
  let blank = false;
  // Whether the block is code at the margin that was closed.
  let closed = false;
  while (at < text.length) {
    const end = text.indexOf("\n", at);
    const line = text.slice(at, end === -1 ? text.length : end);
    if (fence !== undefined) {
      if (closes(line, fence)) {
        fence = undefined;
        closed = text[start] === "`" || text[start] === "~";
      }
      blank = false;
    } else {
      const empty = line.trim() === "";
      const whole = end !== -1;
      fence = FENCE.exec(line)?.[1];
      const apart =
        closed ||
        (blank && !continues(line, whole)) ||
        (whole && fence !== undefined && line.startsWith(fence)) ||
        (at - start > LONG && isItem(line));
      if (start < at && apart && !empty) {
        found.push(text.slice(start, at));
        start = at;
        closed = false;
      }
      blank = empty;
    }
    if (end === -1) break;
    at = end + 1;
  }
  if (start < text.length) found.push(text.slice(start));
  return found;
}

export interface Fence {
  language: string;
  code: string;
  /** Whether the end of the code was written. */
  closed: boolean;
}

/** How code begins; the same letters may also stand around code inside a line. */
const FENCE = /^ {0,3}(`{3,}(?!.*`)|~{3,})/;

/** The code in a block that is nothing but code, perhaps still being written. */
export function fenceOf(block: string): Fence | undefined {
  const head = block.indexOf("\n") + 1;
  const fence = FENCE.exec(block.slice(0, head))?.[1];
  if (fence === undefined) return undefined;
  const language = block.slice(0, head).trim().slice(fence.length).trim().split(/\s/)[0] ?? "";
  const body = block.slice(head).trimEnd();
  const last = body.lastIndexOf("\n") + 1;
  if (closes(body.slice(last), fence)) return { language, code: body.slice(0, last), closed: true };
  return { language, code: block.slice(head), closed: false };
}

/** Lines and characters in one part of a text: what grows is then laid out part by part. */
const PART = { lines: 60, characters: 8_000 };

/** A text in parts of whole lines, or less of long ones; only the last one changes as it grows. */
export function partsOf(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let lines = 0;
  const cut = (at: number): void => {
    parts.push(text.slice(start, at));
    start = at;
    lines = 0;
  };
  for (let at = 0; at < text.length;) {
    const end = text.indexOf("\n", at);
    const next = end === -1 ? text.length : end + 1;
    while (next - start > PART.characters) cut(start + PART.characters);
    if (end !== -1 && ++lines >= PART.lines) cut(next);
    at = next;
  }
  if (start < text.length) parts.push(text.slice(start));
  return parts;
}

function closes(line: string, fence: string): boolean {
  const trimmed = line.trim();
  return trimmed.length >= fence.length && trimmed === fence[0]!.repeat(trimmed.length);
}

function isItem(line: string): boolean {
  return /^([-*+]|\d{1,9}[.)]) /.test(line);
}

/**
 * Whether a line after a blank one may still belong to the block before it. Of a line that is not
 * whole yet, its first letters may still become the mark of a list or a quote.
 */
function continues(line: string, whole: boolean): boolean {
  return (
    /^(\s|[-*+] |\d{1,9}[.)] |>)/.test(line) || (!whole && /^([-*+]|\d{1,9}[.)]?)$/.test(line))
  );
}

/** Blocks of a growing text: those that were finished before are the very same strings. */
export class Growing {
  private text = "";
  private done: string[] = [];
  private rest = "";

  /** The blocks of `text`; only what was added since the last call is looked at. */
  blocks(text: string): string[] {
    if (!text.startsWith(this.text)) {
      this.done = [];
      this.rest = text;
    } else {
      this.rest += text.slice(this.text.length);
    }
    this.text = text;
    const found = blocks(this.rest);
    this.rest = found.pop() ?? "";
    this.done.push(...found);
    return this.rest ? [...this.done, this.rest] : [...this.done];
  }
}
