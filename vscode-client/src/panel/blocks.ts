// Streaming Markdown in blocks: all but the last one are finished, and are rendered once.

/**
 * Splits Markdown where no construct can reach over: at blank lines outside of fences, lists and
 * quotes. What is added to a text later can only change the last block.
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
      const opened = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
      if (blank && line.trim() && !continues(line) && start < at) {
        found.push(text.slice(start, at));
        start = at;
      }
      if (opened !== undefined) fence = opened;
      blank = line.trim() === "";
    }
    if (end === -1) break;
    at = end + 1;
  }
  if (start < text.length) found.push(text.slice(start));
  return found;
}

function closes(line: string, fence: string): boolean {
  const trimmed = line.trim();
  return trimmed.length >= fence.length && trimmed === fence[0]!.repeat(trimmed.length);
}

/** Whether a line after a blank one may still belong to the block before it. */
function continues(line: string): boolean {
  return /^(\s|[-*+] |\d{1,9}[.)] |>)/.test(line);
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
