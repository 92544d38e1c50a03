// Streaming Markdown in blocks: all but the last one are finished, and are rendered once.

/** A list or quote that is longer than this is cut between two of its lines, in characters. */
const LONG = 2_000;

/**
 * Splits Markdown where no construct can reach over: at blank lines outside of fences, lists and
 * quotes. What is added to a text later can only change the last block. Only very long lists are
 * cut inside, between two items.
 */
export function blocks(text: string): string[] {
  const found: string[] = [];
  let start = 0;
  let fence: string | undefined;
  let at = 0;
  let blank = false;
  while (at < text.length) {
    const end = text.indexOf("\n", at);
    const line = text.slice(at, end === -1 ? text.length : end);
    if (fence !== undefined) {
      if (closes(line, fence)) fence = undefined;
      blank = false;
    } else {
      const apart = blank && line.trim() !== "" && !continues(line, end !== -1);
      if (start < at && (apart || (at - start > LONG && isItem(line)))) {
        found.push(text.slice(start, at));
        start = at;
      }
      fence = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
      blank = line.trim() === "";
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

/** The code in a block that is nothing but code, perhaps still being written. */
export function fenceOf(block: string): Fence | undefined {
  const opened = /^ {0,3}(`{3,}|~{3,})([^\n]*)\n/.exec(block);
  const fence = opened?.[1];
  if (!opened || fence === undefined) return undefined;
  const language = opened[2]?.trim().split(/\s/)[0] ?? "";
  const body = block.slice(opened[0].length).trimEnd();
  const last = body.lastIndexOf("\n") + 1;
  if (closes(body.slice(last), fence)) return { language, code: body.slice(0, last), closed: true };
  return { language, code: block.slice(opened[0].length), closed: false };
}

/** Lines of code in one part of a block: what grows is then laid out part by part. */
const PART = 60;

/** Code in parts of whole lines; all but the last one stay as they are while it grows. */
export function codeParts(code: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let lines = 0;
  for (let at = code.indexOf("\n"); at !== -1; at = code.indexOf("\n", at + 1)) {
    if (++lines % PART !== 0) continue;
    parts.push(code.slice(start, at + 1));
    start = at + 1;
  }
  if (start < code.length) parts.push(code.slice(start));
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
