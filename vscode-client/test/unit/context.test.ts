import { beforeEach, describe, expect, it } from "vitest";
import type * as vscode from "vscode";
import { diagnosticsChip, offers, placeChip, selectionChip } from "../../src/host/context/chips";
import { plain, TERMINAL_TEXT, Terminals } from "../../src/host/context/terminal";
import { save } from "../../src/host/saving";
import { settle } from "../fakes/server";
import * as fake from "../fakes/vscode";

const uri = fake.Uri.parse("file:///w/stats.py");

function editor(from: [number, number], to: [number, number]): vscode.TextEditor {
  const at = ([line, character]: [number, number]) => ({ line, character });
  const isEmpty = from.join() === to.join();
  const selection = { start: at(from), end: at(to), isEmpty };
  return { document: { uri, version: 7 }, selection } as unknown as vscode.TextEditor;
}

beforeEach(() => {
  fake.languages.problems.clear();
  fake.window.activeTextEditor = undefined;
  fake.window.activeTerminal = undefined;
  fake.window.tabGroups.all = [];
  fake.env.clipboard.text = "mine";
  fake.env.clipboard.written = [];
  fake.does.clear();
});

describe("a chip", () => {
  it("of a selection names its place and version, never its text", () => {
    const chip = selectionChip(editor([1, 0], [2, 4]));
    expect(chip).toMatchObject({
      kind: "selection",
      uri: "file:///w/stats.py",
      range: { start: { line: 1, character: 0 }, end: { line: 2, character: 4 } },
      version: 7,
    });
    expect(chip.text).toBeUndefined();
  });

  it("of nothing that is selected is the file", () => {
    expect(selectionChip(editor([3, 1], [3, 1]))).toMatchObject({
      kind: "file",
      uri: "file:///w/stats.py",
    });
  });

  it("of problems says what the editor says, with lines as people count them", () => {
    const range = { start: { line: 4, character: 0 } };
    fake.languages.problems.set(uri.toString(), [
      { severity: 0, message: "undefined name", source: "ruff", code: { value: "F821" }, range },
      { severity: 1, message: "unused", range },
    ]);
    const chip = diagnosticsChip(uri as unknown as vscode.Uri);
    expect(chip?.text).toBe("5: error: undefined name (ruff F821)\n5: warning: unused");
    expect(chip?.detail).toBe("2 problems in /w/stats.py");
  });

  it("of a folder says that it is one, and of what is not there that it was named", async () => {
    const folder = fake.Uri.parse("file:///w/src");
    fake.workspace.fs.folders = [folder.toString()];
    const chips = [folder, uri, fake.Uri.parse("file:///gone")].map((one) =>
      placeChip(one as unknown as vscode.Uri),
    );
    expect((await Promise.all(chips)).map((one) => [one.label, one.uri])).toEqual([
      ["src/", "file:///w/src/"],
      ["stats.py", "file:///w/stats.py"],
      ["gone", "file:///gone"],
    ]);
  });

  it("of a picture brings what is in it, as long as that can be taken", async () => {
    const { fs } = fake.workspace;
    const shot = fake.Uri.parse("file:///w/Shot.PNG") as unknown as vscode.Uri;
    expect(await placeChip(shot)).toMatchObject({
      kind: "image",
      label: "Shot.PNG",
      mimeType: "image/png",
      data: "AQID",
    });
    fs.size = 21 * 1024 * 1024;
    expect(await placeChip(shot)).toMatchObject({ kind: "file", label: "Shot.PNG" });
    fs.size = 3;
    const drawing = fake.Uri.parse("file:///w/a.svg") as unknown as vscode.Uri;
    expect(await placeChip(drawing)).toMatchObject({ kind: "file", label: "a.svg" });
  });

  it("is offered for the selection, its problems, and each open editor once", () => {
    const other = fake.Uri.parse("file:///w/other.py");
    fake.window.activeTextEditor = editor([0, 0], [0, 3]);
    fake.languages.problems.set(uri.toString(), [
      { severity: 0, message: "m", range: { start: { line: 0 } } },
    ]);
    fake.window.tabGroups.all = [
      { tabs: [uri, other].map((one) => ({ input: new fake.TabInputText(one) })) },
    ];
    expect(offers().map(({ kind, uri: place }) => `${kind} ${place}`)).toEqual([
      "selection file:///w/stats.py",
      "diagnostics file:///w/stats.py",
      "file file:///w/other.py",
    ]);
  });
});

describe("the output of a terminal", () => {
  const terminal = {};

  async function run(command: string, ...pieces: string[]): Promise<void> {
    async function* read(): AsyncGenerator<string> {
      for (const piece of pieces) yield await Promise.resolve(piece);
    }
    fake.startedExecution.fire({ terminal, execution: { commandLine: { value: command }, read } });
    for (let i = 0; i < 5; i++) await settle();
  }

  it("comes from the shell where it tells of commands; no clipboard is touched", async () => {
    const terminals = new Terminals();
    fake.window.activeTerminal = terminal;
    await run("pytest", "\u001b]633;C\u0007\u001b[31mF", "AILED\u001b[0m\r\n");
    expect(await terminals.output()).toMatchObject({
      kind: "terminal",
      text: "$ pytest\nFAILED\n",
    });
    expect(fake.env.clipboard.written).toEqual([]);
    terminals.dispose();
  });

  it("is only its end where there is much", async () => {
    const terminals = new Terminals();
    fake.window.activeTerminal = terminal;
    await run("yes", ...Array.from({ length: 10 }, () => "y".repeat(TERMINAL_TEXT)), "end");
    expect(terminals.lastOutput!.text!.length).toBeLessThan(TERMINAL_TEXT + 100);
    expect(terminals.lastOutput!.text!.endsWith("end")).toBe(true);
    terminals.dispose();
  });

  it("is copied where the shell tells of none, and the clipboard is put back", async () => {
    const terminals = new Terminals();
    fake.window.activeTerminal = terminal;
    fake.does.set("workbench.action.terminal.copyLastCommandOutput", () => {
      fake.env.clipboard.text = "said";
    });
    expect(await terminals.output()).toMatchObject({ text: "said" });
    expect(fake.env.clipboard.text).toBe("mine");
    fake.does.set("workbench.action.terminal.copySelection", () => {
      throw new Error("no terminal");
    });
    await expect(terminals.selection()).rejects.toThrow();
    expect(fake.env.clipboard.text).toBe("mine");
    terminals.dispose();
  });

  it("is text as a person saw it", () => {
    expect(
      plain("\u001b[1mbold\u001b[0m \u001b]0;title\u0007x\r\n 10%\r 50%\r100%\nend\u0008\u0000"),
    ).toBe("bold x\n100%\nend");
  });
});

describe("saving", () => {
  it("saves what is open and has a name, and says what it could not", async () => {
    const document = (name: string, isUntitled: boolean, saves: boolean) => ({
      uri: fake.Uri.parse(name),
      isUntitled,
      save: () => Promise.resolve(saves),
    });
    fake.workspace.textDocuments = [
      document("file:///w/a.py", false, true),
      document("file:///w/b.py", false, false),
      document("untitled:new", true, true),
    ];
    expect(
      await save(["file:///w/a.py", "file:///w/b.py", "untitled:new", "file:///w/closed.py"]),
    ).toEqual({
      saved: ["file:///w/a.py"],
      failed: ["file:///w/b.py", "untitled:new", "file:///w/closed.py"],
    });
    fake.workspace.textDocuments = [];
  });
});
