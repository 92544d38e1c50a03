/** An edit really stands where it was meant to, or the model is told that it does not. */

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import test, { describe, it } from "node:test";

import { EVENTS, Editor } from "./lib/editor.mjs";
import { calls, results, says } from "./lib/model.mjs";
import { range } from "./lib/text.mjs";
import { Gate } from "./lib/wait.mjs";

/** One turn that reads a file and edits it, all allowed; what came of the edit. */
async function edit(editor, name, ...edits) {
  const session = await editor.session();
  const call = ["edit_file", { path: name, edits }];
  editor.model.play(calls(["read_file", { path: name }]), calls(call), says("So be it."));
  const turn = session.turn("Edit it");
  await session
    .fact("approval/asked")
    .then(({ approvalId }) => editor.approve({ approvalId, decision: "allow" }));
  assert.deepEqual((await turn).end, { kind: "completed" });
  const [, result] = session.all("tool/result").map((fact) => fact.data);
  assert.equal(results(editor.model.requests.items.at(-1)).at(-1), result.content);
  return { ...result, applied: session.all("edit/applied").map((fact) => fact.data.outcome) };
}

const disk = (editor, name) => readFile(path.join(editor.folder, name));
const saved = (editor, name, bytes) => writeFile(path.join(editor.folder, name), bytes);

describe("an edit of an open document", { concurrency: 4 }, () => {
  const start = (t, capabilities = EVENTS) => Editor.start(t, { capabilities });

  // The first two wait for the longest.
  it("that the editor only claims to have made is told as UNVERIFIED", async (t) => {
    const editor = await start(t);
    const uri = await editor.opens("open.txt", "old\n");
    editor.apply = () => ({ applied: true });

    const { isError, code, content, applied } = await edit(editor, "open.txt", {
      old: "old",
      new: "new",
    });

    assert.deepEqual([isError, code, applied], [true, "UNVERIFIED", ["unverified"]]);
    assert.match(content, /does not show it/);
    assert.equal(editor.edits.items.length, 1, "what is not verified is never repeated");
    assert.equal(editor.text(uri), "old\n");
  });

  it("that the editor puts elsewhere is told as MISPLACED", async (t) => {
    const editor = await start(t);
    await editor.opens("open.txt", "one\ntwo\nthree\nold\n");
    editor.apply = async ({ edit }) => {
      const [{ edits, textDocument }] = edit.documentChanges;
      await editor.change(textDocument.uri, [{ range: range(0, 0, 0, 3), text: edits[0].newText }]);
      return { applied: true };
    };
    const { code, applied } = await edit(editor, "open.txt", { old: "old", new: "a new text" });
    assert.deepEqual([code, applied], ["MISPLACED", ["misplaced"]]);
  });

  for (const encoding of ["utf-16", "utf-8", "utf-32"]) {
    it(`is made by the editor, at the right place in ${encoding}`, async (t) => {
      const general = { positionEncodings: [encoding] };
      const editor = await start(t, { ...EVENTS, general });
      assert.equal(editor.encoding, encoding);
      await saved(editor, "open.txt", "as saved\n");
      const uri = await editor.opens("open.txt", "a\n😀 測試 old é old2\nz\n", 7);

      const { isError, applied } = await edit(editor, "open.txt", { old: "old é", new: "new 😀" });

      assert.deepEqual([isError, applied], [false, ["applied"]]);
      assert.equal(editor.text(uri), "a\n😀 測試 new 😀 old2\nz\n");
      assert.equal(
        (await disk(editor, "open.txt")).toString(),
        "as saved\n",
        "saving is the person's",
      );
      const [{ edit: sent }] = editor.edits.items;
      assert.deepEqual(sent.documentChanges[0].textDocument, { uri, version: 7 });
      assert.equal(sent.changes, undefined);
    });
  }

  it("is confirmed by the text, also where the editor's answer comes first", async (t) => {
    const editor = await start(t);
    const uri = await editor.opens("open.txt", "old\n");
    const late = new Gate();
    editor.apply = (params) => {
      late.opened.then(() => editor.make(params.edit));
      setImmediate(late.open);
      return { applied: true };
    };
    const { isError } = await edit(editor, "open.txt", { old: "old", new: "new" });
    assert.equal(isError, false);
    assert.equal(editor.text(uri), "new\n");
  });

  it("that the editor refuses is tried again, at most three times", async (t) => {
    const editor = await start(t);
    const uri = await editor.opens("open.txt", "old\n");
    editor.apply = () => ({ applied: false, failureReason: "the buffer is locked" });

    const { isError, code, content, applied } = await edit(editor, "open.txt", {
      old: "old",
      new: "new",
    });

    assert.deepEqual([isError, code, applied], [true, "TOOL_FAILED", ["declined"]]);
    assert.match(content, /the buffer is locked/);
    assert.equal(editor.edits.items.length, 4);
    assert.equal(editor.text(uri), "old\n");
  });

  it("goes to where its text stands when the person types meanwhile", async (t) => {
    const editor = await start(t);
    const uri = await editor.opens("open.txt", "one\nold\n");
    editor.apply = async (params) => {
      if (editor.edits.items.length > 1) return editor.make(params.edit);
      // Typed while the edit was under way: the editor refuses it, for it is older than the text.
      await editor.change(uri, [{ range: range(0, 0, 0, 0), text: "zero\n" }]);
      return editor.make(params.edit);
    };
    const { applied } = await edit(editor, "open.txt", { old: "old", new: "new" });
    assert.deepEqual(applied, ["applied"]);
    assert.equal(editor.text(uri), "zero\none\nnew\n");
  });

  it("is not made where the person changed that very text", async (t) => {
    const editor = await start(t);
    const uri = await editor.opens("open.txt", "one\nold\n");
    editor.apply = async (params) => {
      if (editor.edits.items.length === 1) {
        await editor.change(uri, [{ range: range(1, 0, 1, 3), text: "mine" }]);
      }
      return editor.make(params.edit);
    };
    const { code, applied, content } = await edit(editor, "open.txt", { old: "old", new: "new" });
    assert.deepEqual([code, applied], ["STALE", ["stale"]]);
    assert.match(content, /mine/, "the model is told what stands there now");
    assert.equal(editor.text(uri), "one\nmine\n");
  });

  it("bears no version for an editor that takes none", async (t) => {
    const workspace = { ...EVENTS.workspace, workspaceEdit: undefined };
    const editor = await start(t, { ...EVENTS, workspace });
    const uri = await editor.opens("open.txt", "one\nold\n");
    const { applied } = await edit(editor, "open.txt", { old: "old", new: "new" });
    assert.deepEqual(applied, ["applied"]);
    const [{ edit: sent }] = editor.edits.items;
    assert.deepEqual([Object.keys(sent), Object.keys(sent.changes)], [["changes"], [uri]]);
    assert.equal(editor.text(uri), "one\nnew\n");
  });

  it("is refused for an editor that takes no edits", async (t) => {
    const workspace = { ...EVENTS.workspace, applyEdit: undefined };
    const editor = await start(t, { ...EVENTS, workspace });
    const uri = await editor.opens("open.txt", "old\n");
    const { code, content } = await edit(editor, "open.txt", { old: "old", new: "new" });
    assert.equal(code, "TOOL_FAILED");
    assert.match(content, /takes no edits/);
    assert.equal(editor.edits.items.length, 0);
    assert.equal(editor.text(uri), "old\n");
  });
});

test("an edit of a closed file", async (t) => {
  const editor = await Editor.start(t);

  const kept = [
    ["CRLF line ends", "one\r\nold\r\nthree\r\n", "one\r\nnew\r\nline\r\nthree\r\n"],
    ["a byte order mark", "\ufeffone\nold\n", "\ufeffone\nnew\nline\n"],
    ["emoji and no newline at the end", "😀 one\nold", "😀 one\nnew\nline"],
    ["mixed line ends", "one\r\ntwo\nold\r\nfour\rfive\n", "one\r\ntwo\nnew\nline\r\nfour\rfive\n"],
  ];
  for (const [name, before, after] of kept) {
    await t.test(`keeps ${name}, to the byte`, async () => {
      await saved(editor, "closed.txt", before);
      const { isError } = await edit(editor, "closed.txt", { old: "old", new: "new\nline" });
      assert.equal(isError, false);
      assert.deepEqual(await disk(editor, "closed.txt"), Buffer.from(after));
    });
  }

  await t.test("is not made over a change that came between", async () => {
    await saved(editor, "closed.txt", "old\n");
    const session = await editor.session();
    const call = ["edit_file", { path: "closed.txt", edits: [{ old: "old", new: "new" }] }];
    editor.model.play(calls(["read_file", { path: "closed.txt" }]), calls(call), says("Oh."));
    const turn = session.turn("Edit it");
    const { approvalId } = await session.fact("approval/asked");
    await saved(editor, "closed.txt", "mine\n");
    await editor.approve({ approvalId, decision: "allow" });
    await turn;
    assert.equal(session.all("tool/result")[1].data.code, "STALE");
    assert.equal((await disk(editor, "closed.txt")).toString(), "mine\n");
  });

  await t.test("needs no editor at all", () => assert.equal(editor.edits.items.length, 0));
});
