/** Changes reviewed where the code stands, by an editor that has nothing but the protocol. */

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import {
  CodeLensRequest,
  HoverRequest,
  PublishDiagnosticsNotification,
} from "vscode-languageserver-protocol/node";

import { Editor, PLAIN } from "./lib/editor.mjs";
import { calls, results, says } from "./lib/model.mjs";
import { range } from "./lib/text.mjs";
import { Seen, within } from "./lib/wait.mjs";

const GAP = "\n\n\n\n";
const CODE = `def f():\n    return 1/0\n${GAP}def g():\n    return 2/0\n${GAP}def h():\n    return 3/0\n`;
const EDITS = ["1/0", "2/0", "3/0"].map((old) => ({ old, new: old[0] }));

/** A plain editor in which a change of three places waits; its prompt is left on the screen. */
async function proposed(t) {
  const editor = await Editor.start(t, { capabilities: PLAIN });
  editor.answer = () => new Promise(() => {});
  const hints = new Seen();
  editor.connection.onNotification(PublishDiagnosticsNotification.type, (params) =>
    hints.add(params.diagnostics),
  );
  await writeFile(path.join(editor.folder, "code.py"), CODE);
  const uri = await editor.opens("code.py", CODE);
  const edit = ["edit_file", { path: "code.py", edits: EDITS }];
  editor.model.play(calls(["read_file", { path: "code.py" }]), calls(edit), says("So be it."));
  const session = await editor.session();
  const turn = session.turn("Mend it");
  const { subject } = await session.fact("approval/asked");
  const ids = subject.files[0].hunks.map((hunk) => hunk.hunkId);
  const shown = () => editor.request(CodeLensRequest.type, { textDocument: { uri } });
  const pick = async (line, title) => {
    const actions = await editor.codeActions(uri, range(line, 4, line, 4));
    const { command } = actions.find((action) => action.title.startsWith(title));
    return (await editor.command(command.command, ...command.arguments)).outcome;
  };
  const nth = (type, count) =>
    within(
      session.values.find(() => session.all(type).length >= count),
      `${type} ${count}`,
    );
  return { editor, session, turn, uri, ids, hints, shown, pick, nth };
}

describe("a proposed change of an open document", { concurrency: 4 }, () => {
  it("is accepted in one place of three by its lens", async (t) => {
    const { editor, session, turn, uri, hints, shown, pick } = await proposed(t);
    const marked = await hints.find((found) => found.length === 3, "three hints");
    assert.deepEqual(
      marked.map((hint) => [hint.severity, hint.range, hint.message]),
      [1, 2, 3].map((n) => [3, range(n * 6 - 5, 4, n * 6 - 5, 14), `+1 −1: return ${n}`]),
    );
    const lenses = await shown();
    assert.deepEqual(
      lenses.map((lens) => `${lens.range.start.line} ${lens.command.title}`),
      [1, 7, 13].flatMap((line) => [`${line} +1 −1 Accept`, `${line} Reject`, `${line} Diff`]),
    );
    const position = { line: 7, character: 6 };
    const hover = await editor.request(HoverRequest.type, { textDocument: { uri }, position });
    assert.match(hover.contents.value, /-    return 2\/0\n\+    return 2\n/);

    const { command } = lenses[3];
    const { outcome } = await editor.command(command.command, ...command.arguments);
    assert.equal(outcome, "accepted");
    await session.fact("edit/applied");
    assert.equal(editor.text(uri), CODE.replace("2/0", "2"));
    assert.equal(await pick(1, "Reject"), "rejected");
    assert.equal((await editor.command("turnbuckle.rejectHunk")).outcome, "rejected");

    assert.deepEqual((await turn).end, { kind: "completed" });
    assert.match(results(editor.model.requests.items.at(-1)).at(-1), /in 1 of 3 places/);
    assert.equal(editor.text(uri), CODE.replace("2/0", "2"));
    assert.deepEqual(await shown(), []);
    await hints.find((found) => found.length === 0, "no hints");
    const disk = await readFile(path.join(editor.folder, "code.py"), "utf8");
    assert.equal(disk, CODE, "saving is the person's");
  });

  it("is undone by the person, by an action and by a command, and the model hears it", async (t) => {
    const { editor, session, turn, uri, pick, nth } = await proposed(t);
    assert.equal(await pick(1, "Accept"), "accepted");
    await nth("edit/applied", 1);
    await editor.change(uri, [{ range: range(1, 12, 1, 12), text: "/0" }]);
    await nth("edit/undone", 1);
    assert.equal(editor.text(uri), CODE);

    assert.equal(await pick(7, "Accept"), "accepted");
    await nth("edit/applied", 2);
    assert.equal(await pick(7, "Undo"), "undone");
    await nth("edit/undone", 2);
    assert.equal(editor.text(uri), CODE);

    await editor.command("turnbuckle.acceptHunk");
    assert.deepEqual((await turn).end, { kind: "completed" });
    assert.equal(editor.text(uri), CODE.replace("3/0", "3"));
    assert.equal((await editor.command("turnbuckle.undoHunk")).outcome, "undone");
    await nth("edit/undone", 3);
    assert.equal(editor.text(uri), CODE);

    editor.model.play(says("I see."));
    await session.ended("And now?");
    const { body } = editor.model.requests.items.at(-1);
    const told = body.messages.map((message) => message.content).join("\n");
    assert.equal(told.split("The person undid your change of code.py in a place").length, 4);
    assert.ok(session.all("edit/undone").every((fact) => fact.data.by === "person"));
  });

  it("is stale where the person types in it, until that is undone", async (t) => {
    const { editor, turn, uri, ids, shown, pick, nth } = await proposed(t);
    const type = (line) => editor.change(uri, [{ range: range(line, 11, line, 11), text: "7+" }]);
    await type(1);
    await type(7);
    await editor.change(uri, [{ range: range(7, 11, 7, 13), text: "" }]);
    const titles = (await shown()).map((lens) => lens.command.title);
    assert.equal(titles[0], "+1 −1 (text changed since) Reject");
    const late = await editor.command("turnbuckle.acceptHunk", { hunkId: ids[0] });
    assert.equal(late.outcome, "stale");

    assert.equal(await pick(7, "Accept"), "accepted");
    assert.equal(await pick(13, "Accept"), "accepted");
    await nth("edit/applied", 2);
    assert.equal(await pick(1, "Reject"), "rejected");
    assert.deepEqual((await turn).end, { kind: "completed" });
    const after = CODE.replace("1/0", "7+1/0").replace("2/0", "2").replace("3/0", "3");
    assert.equal(editor.text(uri), after);
    assert.match(results(editor.model.requests.items.at(-1)).at(-1), /in 2 of 3 places/);
  });
});

describe("an open document", { concurrency: 4 }, () => {
  /** One turn of two calls, all allowed, in an editor with this text open and another on disk. */
  async function turned(t, text, ...called) {
    const editor = await Editor.start(t);
    await writeFile(path.join(editor.folder, "open.txt"), "as saved\n");
    const uri = await editor.opens("open.txt", text);
    editor.model.play(calls(["read_file", { path: "open.txt" }]), calls(called), says("Done."));
    const session = await editor.session();
    const turn = session.turn("Do it");
    const { approvalId } = await session.fact("approval/asked");
    await editor.approve({ approvalId, decision: "allow" });
    assert.deepEqual((await turn).end, { kind: "completed" });
    return { text: editor.text(uri), told: results(editor.model.requests.items.at(-1)) };
  }

  it("keeps its line ends and emoji around an edit", async (t) => {
    const edits = [{ old: "old", new: "new 🦀\nline" }];
    const edit = ["edit_file", { path: "open.txt", edits }];
    const { text } = await turned(t, "one 😀\r\nold 測試\r\n\r\nthree\r\n", ...edit);
    assert.equal(text, "one 😀\r\nnew 🦀\r\nline 測試\r\n\r\nthree\r\n");
  });

  it("that is not saved is told to the model when a command runs", async (t) => {
    const { told } = await turned(t, "typed\n", "run_command", { command: "cat open.txt" });
    assert.match(told[0], /typed/);
    assert.match(told[1], /as saved/);
    assert.match(told[1], /not saved in the editor, so not seen by the command: open\.txt/);
  });
});
