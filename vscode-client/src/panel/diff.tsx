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
              <td class="code">{visible(line.text, true)}</td>
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

/** Line ends are left out where they are the same before and after, and spelt out where not. */
export function diffLines(hunk: HunkSubject): Line[] {
  const old = hunk.oldText ?? "";
  const fresh = hunk.newText ?? "";
  const ends = old !== "" && fresh !== "" && old.includes("\r") !== fresh.includes("\r");
  const end = old !== "" && fresh !== "" && old.endsWith("\n") !== fresh.endsWith("\n");
  return [
    ...rows(old, ends, end).map((text, index) => ({
      sign: "−" as const,
      number: hunk.line + index + 1,
      text,
    })),
    ...rows(fresh, ends, end).map((text, index) => ({
      sign: "+" as const,
      number: hunk.line + index + 1,
      text,
    })),
  ];
}

function rows(text: string, ends: boolean, end: boolean): string[] {
  if (!text) return [];
  const lines = text.replace(/\n$/, "").split("\n");
  const shown = ends ? lines : lines.map((line) => line.replace(/\r$/, ""));
  if (end && !text.endsWith("\n")) shown[shown.length - 1] += " (no end of line)";
  return shown;
}
