// A hunk as a diff, with the numbers of its lines and everything that hides made visible.

import { useState } from "preact/hooks";
import type { HunkSubject } from "../session/state";
import { visible } from "../session/words";
import { Button } from "./widgets";

/** So many lines are shown at once; the others on demand. */
const LINES = 40;

interface Line {
  sign: "−" | "+";
  number: number;
  text: string;
  /** Where it differs from the line that it takes the place of, if it is still much the same. */
  changed?: [start: number, end: number];
}

export function HunkDiff({ hunk }: { hunk: HunkSubject }) {
  const [whole, setWhole] = useState(false);
  if (hunk.truncated)
    return <p class="muted hunk-cut">Too long to be shown here: review it in the editor.</p>;
  const lines = diffLines(hunk);
  if (!lines.length) return <p class="muted hunk-cut">An empty file.</p>;
  const shown = whole || lines.length <= LINES + 5 ? lines : lines.slice(0, LINES);
  return (
    <>
      <table class="diff" aria-label={`Lines from ${hunk.line + 1}`}>
        <tbody>
          {shown.map((line, index) => (
            <tr class={line.sign === "+" ? "added" : "removed"} key={index}>
              <td class="line">{line.number}</td>
              <td class="sign">
                <span class="unseen">{line.sign === "+" ? "added" : "removed"}</span>
                <span aria-hidden="true">{line.sign}</span>
              </td>
              <td class="code">
                <Words {...line} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < lines.length && (
        <div class="hunk-more">
          <Button
            kind="link"
            onClick={() => setWhole(true)}
          >{`Show ${lines.length - shown.length} more lines`}</Button>
        </div>
      )}
    </>
  );
}

function Words({ text, changed: [start, end] = [0, 0] }: Line) {
  if (start === end) return visible(text, true);
  return (
    <>
      {visible(text.slice(0, start), true)}
      <mark>{visible(text.slice(start, end), true)}</mark>
      {visible(text.slice(end), true)}
    </>
  );
}

/** Line ends are left out where they are the same before and after, and spelt out where not. */
export function diffLines(hunk: HunkSubject): Line[] {
  const old = hunk.oldText ?? "";
  const fresh = hunk.newText ?? "";
  const ends = old !== "" && fresh !== "" && old.includes("\r") !== fresh.includes("\r");
  const end = old !== "" && fresh !== "" && old.endsWith("\n") !== fresh.endsWith("\n");
  const before = rows(old, ends, end);
  const after = rows(fresh, ends, end);
  const paired = before.length === after.length;
  const line = (sign: Line["sign"], others: string[]) => (text: string, index: number) => {
    const changed = paired ? difference(text, others[index]!) : undefined;
    return { sign, number: hunk.line + index + 1, text, ...(changed && { changed }) };
  };
  return [...before.map(line("−", after)), ...after.map(line("+", before))];
}

/** Where a text differs from another one, between what both begin and end with. */
function difference(text: string, other: string): [number, number] | undefined {
  const shorter = Math.min(text.length, other.length);
  let start = 0;
  while (start < shorter && text[start] === other[start]) start++;
  let end = 0;
  while (end < shorter - start && text.at(-1 - end) === other.at(-1 - end)) end++;
  // Halves of one letter stay together.
  if (/[\ud800-\udbff]/.test(text[start - 1] ?? "")) start--;
  if (end && /[\udc00-\udfff]/.test(text.at(-end) ?? "")) end--;
  const same = text.slice(0, start).trim().length + text.slice(text.length - end).trim().length;
  return same * 3 >= text.trim().length ? [start, text.length - end] : undefined;
}

function rows(text: string, ends: boolean, end: boolean): string[] {
  if (!text) return [];
  const lines = text.replace(/\n$/, "").split("\n");
  const shown = ends ? lines : lines.map((line) => line.replace(/\r$/, ""));
  if (end && !text.endsWith("\n")) shown[shown.length - 1] += " (no end of line)";
  return shown;
}
