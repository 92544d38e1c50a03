// @vitest-environment jsdom
import { render } from "preact";
import { describe, expect, it } from "vitest";
import { diffLines, HunkDiff } from "../../src/panel/diff";

function hunk(oldText: string, newText: string) {
  return { hunkId: "h", line: 9, oldText, newText, truncated: false };
}

/** The lines with what is marked in them between brackets. */
function marked(oldText: string, newText: string): string[] {
  return diffLines(hunk(oldText, newText)).map(({ sign, number, text, changed: [a, b] = [0, 0] }) =>
    a === b
      ? `${sign}${number} ${text}`
      : `${sign}${number} ${text.slice(0, a)}[${text.slice(a, b)}]${text.slice(b)}`,
  );
}

describe("a hunk", () => {
  it("marks what changed in lines that take the place of each other", () => {
    expect(marked("a = 1\nreturn max(x)\n", "a = 1\nreturn max(x) or 0\n")).toEqual([
      "−10 a = 1",
      "−11 return max(x)",
      "+10 a = 1",
      "+11 return max(x)[ or 0]",
    ]);
    expect(marked("total(items)\n", "total(things)\n")).toEqual([
      "−10 total([item]s)",
      "+10 total([thing]s)",
    ]);
  });

  it("marks nothing where lines have little in common, or are not as many", () => {
    expect(marked("import os\n", '"""Small."""\n')).toEqual(["−10 import os", '+10 """Small."""']);
    expect(marked("one\n", "one\ntwo\n")).toEqual(["−10 one", "+10 one", "+11 two"]);
  });

  it("keeps the halves of a letter together, at both ends", () => {
    expect(marked("some words 😀 here\n", "some words 😁 here\n")).toEqual([
      "−10 some words [😀] here",
      "+10 some words [😁] here",
    ]);
    // The same second half.
    expect(marked("some words \u{1f600} here\n", "some words \u{1f200} here\n")[0]).toBe(
      "−10 some words [\u{1f600}] here",
    );
  });

  it("shows each line whole", () => {
    const root = document.createElement("div");
    render(<HunkDiff hunk={hunk("return max(x)\n", "return max(x) or 0\n")} />, root);
    expect([...root.querySelectorAll(".code")].map((one) => one.textContent)).toEqual([
      "return max(x)",
      "return max(x) or 0",
    ]);
    expect(root.querySelector("mark")?.textContent).toBe(" or 0");
  });
});
