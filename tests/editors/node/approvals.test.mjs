/** Nothing is done that the person did not allow: by events, by prompts and by commands. */

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

import { Editor, PLAIN } from "./lib/editor.mjs";
import { calls, results, says } from "./lib/model.mjs";
import { Gate } from "./lib/wait.mjs";

const titles = (prompt) => prompt.actions.map((action) => action.title);
const choose = (title) => (prompt) =>
  prompt.actions.find((action) => action.title === title) ?? null;

/** What a command leaves when it ran. */
const mark = (name) => ["run_command", { command: `echo ran > ${name}` }];
const ran = (editor, name) =>
  readFile(path.join(editor.folder, name), "utf8").then(
    (text) => text.trim() === "ran",
    () => false,
  );

test("a client that shows events", async (t) => {
  const editor = await Editor.start(t);
  const { model } = editor;
  const told = () => results(model.requests.items.at(-1));

  await t.test("allows a command, which runs then", async () => {
    model.play(calls(mark("allowed")), says("It ran."));
    const session = await editor.session();
    const turn = session.turn("Run it");
    const { approvalId, subject } = await session.fact("approval/asked");
    assert.equal(subject.kind, "command");
    assert.equal(subject.command, "echo ran > allowed");
    assert.equal(await ran(editor, "allowed"), false, "nothing runs before the answer");

    assert.deepEqual(await editor.approve({ approvalId, decision: "allow" }), { accepted: true });

    assert.deepEqual((await turn).end, { kind: "completed" });
    assert.equal(await ran(editor, "allowed"), true);
    assert.equal((await session.fact("tool/result")).meta.exitCode, 0);
    const decided = await session.fact("approval/decided");
    assert.equal(decided.outcome, "allowed");
    const again = await editor.approve({ approvalId, decision: "reject" });
    assert.deepEqual(again, { accepted: false }, "the first answer wins");
    assert.equal(editor.prompts.items.length, 0, "no prompt beside the events");
  });

  await t.test("rejects with a note, which the model reads, and nothing runs", async () => {
    model.play(calls(mark("rejected")), says("I see."));
    const session = await editor.session();
    const turn = session.turn("Run it");
    const { approvalId } = await session.fact("approval/asked");
    await editor.approve({ approvalId, decision: "reject", note: "use the other folder" });

    assert.deepEqual((await turn).end, { kind: "completed" });
    assert.equal(await ran(editor, "rejected"), false);
    const result = await session.fact("tool/result");
    assert.deepEqual([result.isError, result.code], [true, "DENIED"]);
    assert.deepEqual(told(), [result.content]);
    assert.match(result.content, /^<tool error: .*the person said no.*use the other folder.*>$/);
  });

  await t.test("sees the output of a command while it runs", async () => {
    model.play(calls(["run_command", { command: "echo live words" }]), says("Done."));
    const session = await editor.session();
    const turn = session.turn("Run it");
    const { approvalId } = await session.fact("approval/asked");
    await editor.approve({ approvalId, decision: "allow" });
    const { callId } = await session.fact("tool/call");
    const note = await session.fact("tool/output", (data) => data.callId === callId);
    assert.match(note.text, /live words/);
    await turn;
  });

  await t.test("decides hunk by hunk, and only what was accepted is done", async () => {
    const file = path.join(editor.folder, "two.txt");
    const text = ["one", ..."abcdefgh", "two", ""].join("\n");
    await writeFile(file, text);
    const edits = [
      { old: "one", new: "ONE" },
      { old: "two", new: "TWO" },
    ];
    const edit = ["edit_file", { path: "two.txt", edits }];
    model.play(calls(["read_file", { path: "two.txt" }]), calls(edit), says("Half."));
    const session = await editor.session();
    const turn = session.turn("Shout");
    const { approvalId, subject } = await session.fact("approval/asked");
    const [first, second] = subject.files[0].hunks;

    await editor.approve({ approvalId, hunks: { [second.hunkId]: true } });
    await session.fact("edit/applied");
    assert.equal(await readFile(file, "utf8"), text.replace("two", "TWO"));
    await editor.approve({ approvalId, hunks: { [first.hunkId]: false } });

    await turn;
    assert.equal(await readFile(file, "utf8"), text.replace("two", "TWO"));
    const [, result] = session.all("tool/result").map((fact) => fact.data);
    assert.equal(result.isError, false);
    assert.deepEqual(result.meta.hunks, { accepted: 1, rejected: 1 });
    assert.match(result.content, /rejected the rest/);
  });

  await t.test("is prompted after all once its subscription has ended", async () => {
    model.play(calls(mark("fallback")), says("It ran."));
    const session = await editor.session();
    const asked = new Gate();
    editor.answer = (prompt) => (asked.open(), choose("Allow once")(prompt));
    const turn = session.turn("Run it");
    await session.fact("approval/asked");
    assert.equal(editor.prompts.items.length, 0);

    await editor.request("turnbuckle/session/events/stop", { token: session.token });

    await asked.opened;
    assert.deepEqual((await turn).end, { kind: "completed" });
    assert.equal(await ran(editor, "fallback"), true);
  });

  await t.test("answers what is not open with nothing accepted, never with an error", async () => {
    const unknown = { approvalId: "0".repeat(32), decision: "allow" };
    assert.deepEqual(await editor.approve(unknown), { accepted: false });
  });
});

test("a client without events", async (t) => {
  const editor = await Editor.start(t, { capabilities: PLAIN });
  const { model } = editor;

  /** One turn that calls a tool, and what came of the call. */
  async function result(...call) {
    model.play(calls(call), says("So be it."));
    const session = await editor.session();
    assert.deepEqual(await session.ended("Do it"), { kind: "completed" });
    return { ...(await session.fact("tool/result")), decided: session.all("approval/decided") };
  }

  await t.test("is asked by a prompt that says what will run", async () => {
    editor.answer = choose("Allow once");
    const { isError } = await result(...mark("prompted"));
    const prompt = editor.prompts.items.at(-1);
    assert.match(prompt.message, /run: echo ran > prompted/);
    assert.deepEqual(titles(prompt), ["Show…", "Allow once", "Allow for this session", "Reject"]);
    assert.equal(isError, false);
    assert.equal(await ran(editor, "prompted"), true);
  });

  const refusals = [
    ["a dismissed prompt", () => null, "rejected"],
    ["Reject", choose("Reject"), "rejected"],
    ["a title that was not offered", () => ({ title: "Allow always" }), "rejected"],
    ["an answer of the wrong shape", () => "Allow once", "unavailable"],
    [
      "an error",
      () => {
        throw new Error("no window");
      },
      "unavailable",
    ],
  ];
  for (const [name, answer, outcome] of refusals) {
    await t.test(`takes ${name} for a no`, async () => {
      editor.answer = answer;
      const { isError, code, decided } = await result(...mark("refused"));
      assert.deepEqual([isError, code], [true, "DENIED"]);
      assert.deepEqual(
        decided.map((fact) => fact.data.outcome),
        [outcome],
      );
      assert.equal(await ran(editor, "refused"), false);
    });
  }

  await t.test("must show what does not fit a line before it can be allowed", async () => {
    const asked = editor.prompts.items.length;
    editor.answer = (prompt) =>
      choose("Allow once")(prompt) ??
      choose(editor.shown.items.length ? "Reject" : "Show…")(prompt);
    const { isError } = await result("run_command", { command: "echo one\necho \u202etwo" });

    const [first, second] = editor.prompts.items.slice(asked);
    assert.deepEqual(titles(first), ["Show…", "Reject"]);
    assert.ok(!/[\n\u202e]/.test(first.message), "what does not show is spelt out");
    assert.deepEqual(titles(second), ["Show…", "Allow once", "Allow for this session", "Reject"]);
    const text = await readFile(fileURLToPath(editor.shown.items.at(-1)), "utf8");
    assert.match(text, /echo one\necho \\u\{202e\}two/);
    assert.equal(isError, false);
  });

  await t.test("is shown an edit as a diff before it can allow it", async () => {
    const asked = editor.prompts.items.length;
    const shown = editor.shown.items.length;
    editor.answer = (prompt) => choose("Allow once")(prompt) ?? choose("Show…")(prompt);
    await result("write_file", { path: "new.txt", content: "hello\n" });

    const [first, second] = editor.prompts.items.slice(asked);
    assert.deepEqual(titles(first), ["Show…", "Reject"]);
    assert.match(first.message, /edit new\.txt \(new file\) \+1 −0$/);
    assert.deepEqual(titles(second), ["Show…", "Allow once", "Allow for this session", "Reject"]);
    const [uri] = editor.shown.items.slice(shown);
    assert.match(uri, /\.diff$/);
    assert.match(await readFile(fileURLToPath(uri), "utf8"), /^\+hello$/m);
    assert.equal(await readFile(path.join(editor.folder, "new.txt"), "utf8"), "hello\n");
  });

  await t.test("has its prompt withdrawn when the question is settled elsewhere", async () => {
    const gate = new Gate();
    const asked = editor.prompts.items.length;
    const withdrawn = new Gate();
    editor.answer = async (prompt, token) => {
      token.onCancellationRequested(withdrawn.open);
      await gate.opened;
      return choose("Allow once")(prompt);
    };
    model.play(calls(mark("withdrawn")), says("So be it."));
    const session = await editor.session();
    const turn = session.turn("Do it");
    await editor.prompts.nth(asked + 1);
    const { approvalId } = await session.fact("approval/asked");

    const outcome = await editor.command("turnbuckle.reject", { approvalId });

    assert.equal(outcome.outcome, "rejected");
    await withdrawn.opened;
    gate.open(); // a late click, as real editors leave the prompt on the screen
    assert.deepEqual((await turn).end, { kind: "completed" });
    assert.equal(await ran(editor, "withdrawn"), false);
  });

  await t.test("can allow by command, and have the prompt shown again", async () => {
    const asked = editor.prompts.items.length;
    editor.answer = () => new Promise(() => {}); // it stands there, under other windows
    model.play(calls(mark("commanded")), says("It ran."));
    const session = await editor.session();
    const turn = session.turn("Do it");
    const first = await editor.prompts.nth(asked + 1);
    const { approvalId } = await session.fact("approval/asked");

    assert.equal((await editor.command("turnbuckle.approve")).outcome, "shown");
    await editor.prompts.nth(asked + 2);
    assert.equal(first.token.isCancellationRequested, true, "there is one prompt at a time");
    assert.equal(session.all("approval/decided").length, 0, "without an id nothing is decided");
    assert.equal((await editor.command("turnbuckle.approve", { approvalId })).outcome, "allowed");

    assert.deepEqual((await turn).end, { kind: "completed" });
    assert.equal(await ran(editor, "commanded"), true);
    assert.equal((await editor.command("turnbuckle.approve", { approvalId })).outcome, "settled");
    assert.equal((await editor.command("turnbuckle.approve")).outcome, "nothing");
  });
});
