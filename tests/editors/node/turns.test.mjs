/** A turn from an editor to a model and back. */

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import test from "node:test";

import { Editor } from "./lib/editor.mjs";
import { calls, results, says } from "./lib/model.mjs";

const rising = (numbers) => numbers.every((number, index) => !index || number > numbers[index - 1]);

test("a turn streams, and its answer comes after its end", async (t) => {
  const editor = await Editor.start(t);
  editor.model.play(says("The answer is forty-two, as ever. 测试 😀"));
  const session = await editor.session();

  const turn = await session.turn("What is the answer?");

  assert.deepEqual(turn.end, { kind: "completed" });
  const { facts } = session;
  assert.equal(facts.at(-1).type, "turn/end", "the answer must not overtake the events");
  assert.equal(turn.seq, facts.at(-1).seq);
  assert.ok(rising(facts.map((fact) => fact.seq)));
  assert.equal(facts[0].type, "session/created");
  assert.equal(session.streamed, "The answer is forty-two, as ever. 测试 😀");
  assert.equal(session.all("assistant/message")[0].data.content, session.streamed);
  assert.deepEqual(turn.usage, { input: 10, output: 5, total: 15 });
  assert.equal(await editor.leave(), 0);
});

test("a tool reads a file, and the model is told what it says", async (t) => {
  const editor = await Editor.start(t);
  await writeFile(path.join(editor.folder, "note.txt"), "the word is turnbuckle\n");
  editor.model.play(calls(["read_file", { path: "note.txt" }]), says("It is turnbuckle."));
  const session = await editor.session();

  await session.turn("Which word?");

  const result = await session.fact("tool/result");
  assert.equal(result.isError, false);
  assert.match(result.content, /the word is turnbuckle/);
  const second = await editor.model.request(2);
  assert.deepEqual(results(second), [result.content]);
  assert.equal(session.all("approval/asked").length, 0, "reading in the workspace asks nobody");
});
