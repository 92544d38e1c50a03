import { describe, expect, it } from "vitest";
import { ProposalFiles } from "../../src/edits/files";
import { proposed, verdict } from "../../src/edits/proposed";
import type { ReviewHunk } from "../../src/wire/types";
import { Uri } from "../fakes/vscode";

function document(text: string) {
  return {
    getText: () => text,
    offsetAt: ({ line, character }: { line: number; character: number }): number => {
      const lines = text.split("\n");
      return lines.slice(0, line).reduce((sum, one) => sum + one.length + 1, 0) + character;
    },
  };
}

function hunk(line: number, oldText: string, newText: string, end = line + 1): ReviewHunk {
  const at = (row: number) => ({ line: row, character: 0 });
  return {
    hunkId: `${line}`,
    state: "open",
    oldText,
    newText,
    range: { start: at(line), end: at(end) },
  };
}

describe("a proposed text", () => {
  it("has every hunk in its place, whatever their order", () => {
    const hunks = [hunk(0, "a\n", "A\nA2\n"), hunk(2, "c\n", ""), hunk(1, "", "new\n", 1)];
    expect(proposed(document("a\nb\nc\n"), hunks)).toBe("A\nA2\nnew\nb\n");
  });

  it("leaves a hunk out whose old text does not stand there", () => {
    expect(proposed(document("x\nb\n"), [hunk(0, "a\n", "A\n"), hunk(1, "b\n", "B\n")])).toBe(
      "x\nB\n",
    );
  });

  it("has the line ends of the document", () => {
    expect(proposed(document("a\r\nb\r\n"), [hunk(0, "a\n", "A\nB\n")])).toBe("A\r\nB\r\nb\r\n");
  });
});

describe("what the person made of a proposal", () => {
  it("is told apart: as it was, changed, or nothing of it", () => {
    expect(verdict("a", "b", "b")).toBe("as-is");
    expect(verdict("a", "b", "c")).toBe("changed");
    expect(verdict("a\n", "b\n", "a\r\n")).toBe("nothing");
  });
});

describe("the files of proposals", () => {
  const uri = Uri.parse("turnbuckle-edit:/id/after/h/a.py") as never;

  it("hold what was put there, and take what the person saves", () => {
    const files = new ProposalFiles();
    files.put(uri, "é\n");
    expect(new TextDecoder().decode(files.readFile(uri))).toBe("é\n");
    files.writeFile(uri, new TextEncoder().encode("mine"));
    expect(files.text(uri)).toBe("mine");
  });

  it("that are gone do not come back by being saved, and none is made", () => {
    const files = new ProposalFiles();
    expect(() => files.writeFile(uri, new Uint8Array())).toThrow("not found");
    files.put(uri, "x");
    files.remove(uri);
    expect(() => files.readFile(uri)).toThrow("not found");
  });

  it("that are only shown cannot be written", () => {
    const files = new ProposalFiles();
    files.put(uri, "", true);
    expect(() => files.writeFile(uri, new Uint8Array())).toThrow("no permissions");
  });
});
