/** A turn from an editor to a model and back. */

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import test from "node:test";

import { Editor } from "./lib/editor.mjs";
import { calls, holds, results, says } from "./lib/model.mjs";
import { range } from "./lib/text.mjs";
import { Gate, Seen } from "./lib/wait.mjs";

const rising = (numbers) => numbers.every((number, index) => !index || number > numbers[index - 1]);
const asked = (request) => request.body.messages.map((message) => message.content).join("\n");

test("a turn", async (t) => {
  const editor = await Editor.start(t);
  const { model } = editor;
  let asks = 0;
  const next = () => model.request((asks = model.requests.items.length + 1));

  await t.test("streams, and its answer comes after its end", async () => {
    const text = "The answer is forty-two, as ever. 测试 😀";
    const gate = new Gate();
    model.play(holds(text, gate));
    const session = await editor.session();
    const answer = session.turn("What is the answer?");
    await session.values.find(() => session.streamed === text, "all of the text as chunks");
    gate.open();

    const turn = await answer;

    assert.deepEqual(turn.end, { kind: "completed" });
    const { facts } = session;
    assert.equal(facts.at(-1).type, "turn/end", "the answer must not overtake the events");
    assert.equal(turn.seq, facts.at(-1).seq);
    assert.ok(rising(facts.map((fact) => fact.seq)));
    assert.equal(facts[0].type, "session/created");
    assert.equal(session.streamed, text);
    assert.equal(session.all("assistant/message")[0].data.content, text);
    assert.deepEqual(turn.usage, { input: 10, output: 5, total: 15 });
    assert.equal(turn.text, undefined, "the text travels once");
  });

  await t.test("sends facts exactly as they are stored, but for the request's header", async () => {
    model.play(says("Yes."));
    const session = await editor.session();
    await session.turn("Is it?");

    const stored = await session.stored();
    const kept = (fact) => !["assistant/chunk", "request/header"].includes(fact.type);
    assert.deepEqual(session.facts.filter(kept), stored.filter(kept));
    assert.deepEqual(
      stored.map((fact) => fact.seq),
      [...stored.keys()],
    );
    const [header] = session.all("request/header");
    assert.deepEqual(Object.keys(header.data), ["digest", "why"]);
  });

  await t.test("travels on its own token where there is no subscription", async () => {
    model.play(says("First."), says("Second answer."));
    const session = await editor.session({}, { subscribed: false });
    await session.turn("One");
    const values = new Seen();
    editor.onValues(99, (value) => values.add(value));

    const turn = await session.turn("Two", { partialResultToken: 99 });

    const facts = values.items.filter((value) => value.seq !== undefined);
    assert.equal(facts[0].type, "turn/start");
    assert.equal(facts.at(-1).type, "turn/end");
    assert.equal(facts.at(-1).seq, turn.seq);
    assert.ok(
      facts.every((fact) => (fact.data.turn ?? 2) === 2),
      "that turn's values only",
    );
    const [message] = facts.filter((fact) => fact.type === "assistant/message");
    assert.equal(message.data.content, "Second answer.");
  });

  await t.test("reads a file with a tool, and tells the model what it says", async () => {
    await writeFile(path.join(editor.folder, "note.txt"), "the word is turnbuckle\n");
    model.play(calls(["read_file", { path: "note.txt" }]), says("It is turnbuckle."));
    const session = await editor.session();
    const first = next();

    await session.turn("Which word?");

    await first;
    const result = await session.fact("tool/result");
    assert.equal(result.isError, false);
    assert.match(result.content, /the word is turnbuckle/);
    assert.deepEqual(results(await model.request(asks + 1)), [result.content]);
    assert.equal(session.all("approval/asked").length, 0, "reading in the workspace asks nobody");
  });

  await t.test("reads what the editor shows unsaved, not what is on disk", async () => {
    await writeFile(path.join(editor.folder, "draft.txt"), "as saved\n");
    await editor.opens("draft.txt", "as typed\n");
    model.play(calls(["read_file", { path: "draft.txt" }]), says("Typed."));
    const session = await editor.session();
    await session.turn("Saved or typed?");
    assert.match((await session.fact("tool/result")).content, /as typed/);
  });

  await t.test("tells the model what the person points at, from the open document", async () => {
    const uri = await editor.opens("open.txt", "zero\n😀 one two\nthree\n");
    model.play(says("I see."));
    const session = await editor.session();
    const request = next();

    const selection = { kind: "selection", uri, range: range(1, 3, 1, 6), text: "made up" };
    await session.turn("What is this?", { context: [selection] });

    const said = asked(await request);
    assert.match(said, /selected .*open\.txt, line 2:\n\n```\none\n```/);
    assert.doesNotMatch(said, /made up/, "an open document's text is taken from the mirror");
  });

  await t.test("is joined, and not run twice, by a message with the same key", async () => {
    const gate = new Gate();
    model.play(holds("Once.", gate));
    const session = await editor.session();
    const request = next();
    const first = session.turn("Do it once", { key: "the-key" });
    await request;
    const second = session.turn("Do it once", { key: "the-key" });
    gate.open();

    assert.deepEqual(await second, await first);
    assert.deepEqual(await session.turn("Do it once", { key: "the-key" }), await first);
    assert.equal(session.all("turn/start").length, 1);
    assert.equal(model.requests.items.length, asks);
  });

  await t.test(
    "lets the next message wait, or steers, or refuses it, as the client asks",
    async () => {
      const gate = new Gate();
      model.play(holds("Long.", gate), says("And steered."), says("Next."));
      const session = await editor.session();
      const request = next();
      const first = session.turn("Go");
      await request;

      await assert.rejects(session.turn("Now", { whenBusy: "reject" }), (error) => {
        assert.deepEqual([error.code, error.data], [-32803, { kind: "busy", retryable: true }]);
        return true;
      });
      const queued = session.turn("Then this");
      const steered = session.turn("But shorter", { whenBusy: "steer" });
      await session.fact("inbox/added", (added) => added.target === "step");
      gate.open();

      assert.equal((await first).turn, 1);
      assert.equal((await steered).turn, 1, "it entered the running turn");
      assert.equal((await queued).turn, 2);
      assert.match(asked(await model.request(asks + 1)), /But shorter/);
      assert.match(asked(await model.request(asks + 2)), /Then this/);
    },
  );

  await t.test(
    "reports its work on the client's token, a line at a time, without text",
    async () => {
      model.play(calls(["list_files", {}]), says("Secret words of the answer."));
      const session = await editor.session({}, { subscribed: false });
      const values = [];
      editor.onValues("work", (value) => values.push(value));

      await session.turn("List", { workDoneToken: "work" });

      const kinds = values.map((value) => value.kind);
      assert.equal(kinds[0], "begin");
      assert.equal(values[0].cancellable, true);
      assert.equal(kinds.at(-1), "end");
      assert.ok(values.some((value) => value.message === "list_files"));
      assert.doesNotMatch(JSON.stringify(values), /Secret|words/);
      assert.ok(values.every(({ message }) => !message?.includes("\n")));
    },
  );

  await t.test("reports nothing of the turn that it waits for", async () => {
    model.play(calls(["list_files", {}]), says("First."), says("Second."));
    const session = await editor.session();
    const values = [];
    editor.onValues("waits", (value) => values.push(value.message));
    const first = session.turn("One");
    await session.turn("Two", { workDoneToken: "waits" });
    await first;
    assert.deepEqual(values, ["waiting", "asking played", "completed"]);
  });

  await t.test("takes an answer of twenty thousand words whole and in order", async () => {
    const text = Array.from({ length: 20_000 }, (_, index) => `w${index}`).join(" ");
    model.play(says(text));
    const session = await editor.session();
    await session.turn("Talk");
    const same = session.all("assistant/message")[0].data.content === text;
    assert.ok(same, "the message is what the model said"); // not shown: it is long
    assert.ok(text.startsWith(session.streamed), "chunks that wait may be skipped at the end only");
  });

  await t.test(
    "goes on while the client does not read, and reaches it whole afterwards",
    async () => {
      const text = "word ".repeat(100_000);
      model.play((reply) => {
        reply.say(text);
        calls(["list_files", {}])(reply);
      }, says("Done."));
      const session = await editor.session();
      const request = next();
      const { stdout } = editor.server.process;
      const turn = session.turn("Talk, then look");
      await request;
      stdout.pause();
      await model.request(asks + 1); // half a megabyte later
      stdout.resume();

      assert.deepEqual((await turn).end, { kind: "completed" });
      const stored = await session.stored();
      const kept = (fact) => !["assistant/chunk", "request/header"].includes(fact.type);
      assert.deepEqual(session.facts.filter(kept), stored.filter(kept));
      assert.ok(rising(session.facts.map((fact) => fact.seq)));
    },
  );

  await t.test("takes a message of two megabytes whole", async () => {
    const text = "é😀 ".repeat(250_000);
    model.play(says("Long."));
    const session = await editor.session();
    const request = next();
    await session.turn(text);
    const { messages } = (await request).body;
    assert.ok(messages.some((message) => message.content === text));
  });

  await t.test("sends the key to the endpoint, and to nothing else", async () => {
    const request = model.requests.items[0];
    assert.equal(request.headers.authorization, "Bearer key-of-the-tests");
    assert.equal(request.url, "/v1/chat/completions");
    const session = await editor.session();
    model.play(says("No."));
    await session.turn("Do you know the key?");
    assert.doesNotMatch(JSON.stringify(await session.stored()), /key-of-the-tests/);
    assert.doesNotMatch(editor.server.errors, /key-of-the-tests/);
  });

  await t.test("can ask which models there are", async () => {
    const { models } = await editor.request("turnbuckle/models", {});
    const [current, ...others] = models.filter((one) => one.current);
    assert.deepEqual([current.name, others], ["played", []]);
    assert.ok(model.url.includes(current.provider) || current.provider === model.url);
    assert.equal(current.unavailable, undefined);
  });

  assert.equal(await editor.leave(), 0);
  assert.equal(editor.server.errors, "", "nothing is written to standard error by all that");
});
