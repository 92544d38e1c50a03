/** A model that fails: the turn ends with what went wrong and what to do, and the next one works. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import { describe, it } from "node:test";

import { Editor } from "./lib/editor.mjs";
import { breaks, calls, refuses, results, says, shows } from "./lib/model.mjs";
import { folder } from "./lib/process.mjs";

describe("what goes wrong with", { concurrency: 4 }, () => {
  // The first waits for the longest.
  it("a model whose stream breaks every time ends the turn, and what it said last is kept", async (t) => {
    const editor = await Editor.start(t);
    const session = await editor.session();
    editor.model.play(...[1, 2, 3, 4, 5].map((count) => breaks(`Attempt ${count} is cu`)));

    const { end } = await session.turn("The question");

    assert.deepEqual([end.kind, end.failure.kind], ["error", "transport"]);
    assert.match(end.failure.message, /broke/);
    const stored = await session.stored();
    assert.deepEqual(stored.at(-1).data.end, end);
    assert.equal(stored.filter((fact) => fact.type === "llm/failed").length, 5);
    const messages = stored.filter((fact) => fact.type === "assistant/message");
    const kept = messages.map(({ data }) => [data.content, data.interrupted]);
    assert.deepEqual(kept, [["Attempt 5 is cu", true]]);

    editor.model.play(says("Whole."));
    assert.deepEqual(await session.ended("Once more"), { kind: "completed" });
    const said = editor.model.requests.items.at(-1).body.messages.map((message) => message.content);
    assert.ok(
      said.some((text) => text?.startsWith("Attempt 5 is cu")),
      "it knows what it said",
    );
  });

  it("a model", async (t) => {
    const editor = await Editor.start(t);
    const { model } = editor;

    /** Ends the turn with an error that fits; nothing is lost, and the next turn works. */
    async function fails(answer, kind, about) {
      model.play(answer, says("All is well."));
      const session = await editor.session();

      const { end } = await session.turn("The question");

      assert.equal(end.kind, "error");
      assert.equal(end.failure.kind, kind, end.failure.message);
      assert.match(end.failure.message, about);
      assert.doesNotMatch(end.failure.message, /key-of-the-tests/);
      const stored = await session.stored();
      const count = (type) => stored.filter((fact) => fact.type === type).length;
      assert.deepEqual(stored.at(-1).data.end, end);
      const counts = ["user/message", "llm/stream", "llm/failed", "assistant/message"].map(count);
      assert.deepEqual(counts, [1, 1, 1, 0]);

      assert.deepEqual(await session.ended("Once more"), { kind: "completed" });
      const said = model.requests.items.at(-1).body.messages.map((message) => message.content);
      const kept = said.some((text) => text?.includes("The question"));
      assert.ok(kept, "nothing of the conversation is lost");
    }

    /** Is asked again after an answer that may be better next time; the log tells both. */
    async function failsOnce(answer, kind, about) {
      model.play(answer, says("The whole answer."));
      const session = await editor.session();

      assert.deepEqual(await session.ended("The question"), { kind: "completed" });

      const { failure, retryAt } = await session.fact("llm/failed");
      assert.equal(failure.kind, kind, failure.message);
      assert.match(failure.message, about);
      assert.ok(retryAt > 0);
      const { text, until } = await session.fact("status");
      assert.equal(until, retryAt, "the person sees how long it waits");
      assert.match(text, about);
      const messages = session.all("assistant/message").map((fact) => fact.data);
      assert.deepEqual(
        messages.map((message) => [message.content, message.interrupted]),
        [["The whole answer.", undefined]],
        "of the attempt that failed nothing stays",
      );
    }

    await t.test("that refuses the key says so, and not the key", () =>
      fails(refuses(401, "Incorrect API key: key-of-the-tests"), "auth", /401.*Check the API key/),
    );

    await t.test("that is not at this address says so", () =>
      fails(refuses(404, "no such model"), "protocol", /404.*name of the model and the base URL/),
    );

    await t.test("that answers with a web page says which kind of answer came", () =>
      fails(shows("<html><title>Sign in</title></html>"), "protocol", /text\/html.*Sign in/),
    );

    await t.test("that fails for a moment is asked again", () =>
      failsOnce(refuses(500, "out of memory"), "server", /500.*out of memory/),
    );

    await t.test("whose stream breaks in mid-sentence is asked again", () =>
      failsOnce(breaks("Half a sent"), "transport", /broke/),
    );

    await t.test("whose tool call is broken JSON is told so, and the turn goes on", async () => {
      const broken = ["read_file", '{"path": "note.txt'];
      const wrong = ["read_file", { path: 7, limit: "all" }];
      const unknown = ["read_files", { path: "note.txt" }];
      model.play(calls(broken, wrong, unknown), says("I see."));
      const session = await editor.session();

      assert.deepEqual(await session.ended("Read it"), { kind: "completed" });

      const came = session.all("tool/result").map(({ data }) => [data.isError, data.code]);
      assert.deepEqual(came, [
        [true, "INVALID_ARGS"],
        [true, "INVALID_ARGS"],
        [true, "UNKNOWN_TOOL"],
      ]);
      const [first, second, third] = results(model.requests.items.at(-1));
      assert.match(first, /not JSON/);
      assert.match(second, /path.*limit/);
      assert.match(third, /did you mean read_file/);
      assert.equal(session.all("tool/start").length, 0, "nothing of it ran");
      const [call] = session.all("tool/call");
      assert.equal(call.data.arguments, broken[1], "the log holds what the model wrote");
    });

    assert.equal(await editor.leave(), 0);
    assert.equal(editor.server.errors, "");
  });

  it("a model whose endpoint is not there says so, and is asked again until the person cancels", async (t) => {
    const nobody = createServer().listen(0, "127.0.0.1");
    await once(nobody, "listening");
    const { port } = nobody.address();
    await new Promise((resolve) => nobody.close(resolve));
    const env = { TURNBUCKLE_BASE_URL: `http://127.0.0.1:${port}/v1` };
    const editor = await Editor.start(t, { env });
    const session = await editor.session();

    const turn = session.turn("Hello");
    const { failure } = await session.fact("llm/failed");

    assert.equal(failure.kind, "transport");
    assert.match(failure.message, new RegExp(`connect to 127\\.0\\.0\\.1:${port}.*[Cc]heck`));
    turn.cancel();
    await assert.rejects(turn, { code: -32800 });
    assert.deepEqual((await session.stored()).at(-1).data.end, { kind: "aborted", cause: "user" });
  });

  it("a log that cannot be written stops the turn before the model is asked", async (t) => {
    const state = path.join(await folder(t), "state");
    await writeFile(state, "a file where the folder should be");
    const editor = await Editor.start(t, { state });
    editor.model.play(says("There is room now."));
    const session = await editor.session();

    const { end } = await session.turn("Hello");

    assert.deepEqual([end.kind, end.failure.kind], ["error", "store"]);
    assert.match(end.failure.message, /could not be written.*nothing was run/);
    assert.equal(editor.model.requests.items.length, 0);

    await rm(state);
    assert.deepEqual(await session.ended("And now?"), { kind: "completed" });
    const stored = await session.stored();
    assert.deepEqual(
      stored.map((fact) => fact.seq),
      [...stored.keys()],
      "nothing of it is lost",
    );
    const ends = stored.filter((fact) => fact.type === "turn/end");
    assert.deepEqual(
      ends.map((fact) => fact.data.end.kind),
      ["error", "completed"],
    );
  });

  it("settings that are wrong are named to the person, and to whoever asks the model", async (t) => {
    const file = path.join(await folder(t), "config.toml");
    await writeFile(file, '[model]\nnmae = "played"\n');
    const editor = await Editor.start(t, { env: { TURNBUCKLE_CONFIG: file } });
    await editor.messages.find((text) => /model\.nmae/.test(text), "a message");
    const session = await editor.session();
    const { failure } = await session.ended("Hello");
    assert.equal(failure.kind, "model");
    assert.match(failure.message, /model\.nmae/);
    assert.equal(editor.model.requests.items.length, 0);
  });
});
