/** A session outlives its server: what was said is on disk, and a client can follow it again. */

import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import test from "node:test";

import { Editor } from "./lib/editor.mjs";
import { Lingering } from "./lib/lingering.mjs";
import { calls, holds, results, says } from "./lib/model.mjs";

/** What a replay brings: all but the chunks of messages that are finished. */
const lasting = (facts) => facts.filter((fact) => fact.type !== "assistant/chunk");
const live = (session) => session.values.find((value) => value.type === "live", "the note live");

test("a session in a new process", async (t) => {
  const first = await Editor.start(t);
  const more = { model: first.model, state: first.state, at: first.folder };
  first.model.play(calls(["list_files", {}]), says("One."), says("Two."));
  const before = await first.session();
  await before.turn("The first question");
  await before.turn("The second question");
  const told = lasting(before.facts);

  await t.test("is read-only while another process has it, and runs no turn there", async (t) => {
    const second = await Editor.start(t, more);
    const session = await second.session({ sessionId: before.id });
    await live(session);
    assert.equal(session.opened.readOnly, true);
    assert.deepEqual(lasting(session.facts), told);
    await assert.rejects(session.turn("May I?"), (error) => {
      assert.deepEqual([error.code, error.data.kind], [-32803, "readOnly"]);
      return true;
    });
    assert.deepEqual((await before.stored()).at(-1), told.at(-1), "nothing was written");

    await first.request("turnbuckle/session/close", { sessionId: before.id });
    await second.request("turnbuckle/session/close", { sessionId: before.id });
    const again = await second.request("turnbuckle/session/open", { sessionId: before.id });
    assert.equal(again.readOnly, false, "it is free once the first has closed it");
  });
  assert.equal(await first.leave(), 0);

  const second = await Editor.start(t, more);
  const session = await second.session({ sessionId: before.id });

  await t.test("is replayed as it was told", async () => {
    await live(session);
    assert.deepEqual(lasting(session.facts), told);
    assert.equal(session.facts.length, told.length, "no chunks of finished messages");
    assert.equal(session.opened.title, "The first question");
    assert.equal(session.opened.interrupted, undefined);
    assert.equal(session.opened.seq, told.at(-1).seq);
    assert.deepEqual(session.range, { from: 0, seq: told.at(-1).seq });
  });

  await t.test("goes on, with a header that says so, and with all that was said", async () => {
    first.model.play(says("Three."));
    const turn = await session.turn("The third question");
    assert.equal(turn.turn, 3);
    const stored = await session.stored();
    const headers = stored.filter((fact) => fact.type === "request/header");
    assert.deepEqual(
      headers.map((fact) => fact.data.why),
      ["initial", "resume"],
    );
    const { body } = first.model.requests.items.at(-1);
    const said = body.messages.slice(1).map((message) => [message.role, message.content]);
    assert.deepEqual(said[0], ["user", "The first question"]);
    assert.deepEqual(said.slice(-3), [
      ["user", "The second question"],
      ["assistant", "Two."],
      ["user", "The third question"],
    ]);
  });

  await t.test("is followed from where a client left off", async () => {
    const at = told[5].seq;
    const rest = await second.session({ sessionId: before.id }, { subscribed: false });
    await rest.subscribe({ after: at });
    await live(rest);
    const expected = lasting(session.facts).filter((fact) => fact.seq > at);
    assert.deepEqual(rest.facts, expected);
    assert.equal(rest.range.from, expected[0].seq);
  });

  await t.test("is followed from its last turns", async () => {
    const last = await second.session({ sessionId: before.id }, { subscribed: false });
    await last.subscribe({ turns: 2 });
    await live(last);
    assert.deepEqual(
      last.all("turn/start").map((fact) => fact.data.turn),
      [2, 3],
    );
    const none = await second.session({ sessionId: before.id }, { subscribed: false });
    await none.subscribe({ turns: 0 });
    await live(none);
    assert.deepEqual(none.facts, []);
    for (const { token } of [last, none]) {
      await second.request("turnbuckle/session/events/stop", { token });
    }
  });

  await t.test("is told no more on a token that was stopped", async () => {
    const other = await second.session({ sessionId: before.id });
    await live(other);
    await second.request("turnbuckle/session/events/stop", { token: other.token });
    const count = other.values.items.length;
    first.model.play(says("Four."));
    await session.turn("The fourth question");
    assert.equal(other.values.items.length, count);
    assert.equal(session.facts.at(-1).type, "turn/end");
    await second.request("turnbuckle/session/events/stop", { token: other.token }); // idempotent
  });

  await t.test("is gone for the client once it is closed, and all that ran or waited", async () => {
    first.model.play(holds("Endless"));
    const count = first.model.requests.items.length;
    const turn = session.turn("The fifth question");
    const request = await first.model.request(count + 1);
    await session.values.find(() => session.streamed.endsWith("Endless"), "the text");
    const waiting = session.turn("The sixth question");
    await session.fact("inbox/added", (added) => added.key === waiting.key);

    await second.request("turnbuckle/session/close", { sessionId: session.id });

    await request.gone;
    await assert.doesNotReject(turn);
    assert.deepEqual((await turn).end, { kind: "aborted", cause: "shutdown" });
    assert.equal(session.facts.at(-1).type, "turn/end");
    await assert.rejects(waiting, { code: -32800 });
    await assert.rejects(session.turn("Are you there?"), { code: -32803 });
    assert.equal((await session.stored()).at(-1).type, "turn/end");
  });

  assert.equal(await second.leave(), 0);
});

test("a session whose server was killed while a command ran", async (t) => {
  const first = await Editor.start(t);
  const lingering = await Lingering.start(t);
  const command = ["run_command", { command: lingering.command }];
  first.model.play(calls(["list_files", {}]), calls(command), says("It had not ended."));
  const before = await first.session();
  before.turn("Run it");
  const { approvalId } = await before.fact("approval/asked");
  await first.approve({ approvalId, decision: "allow" });
  await lingering.running();
  first.server.process.kill("SIGKILL");
  await first.server.exited;
  await lingering.ended();

  const second = await Editor.start(t, {
    model: first.model,
    state: first.state,
    at: first.folder,
  });
  const session = await second.session({ sessionId: before.id });
  await live(session);

  assert.deepEqual([session.opened.readOnly, session.opened.interrupted], [false, true]);
  const [listed, ran] = session.all("tool/result").map((fact) => fact.data);
  assert.equal(listed.isError, false);
  assert.deepEqual([ran.isError, ran.code], [true, "TOOL_OUTCOME_UNKNOWN"]);
  assert.deepEqual((await session.fact("turn/end")).end, { kind: "interrupted" });
  assert.equal(first.model.requests.items.length, 2, "nothing runs by itself");

  await t.test("goes on where it was cut off", async () => {
    const { end } = await session.turn("", { input: undefined, resume: true });
    assert.deepEqual(end, { kind: "completed" });
    assert.deepEqual(results(first.model.requests.items.at(-1)), [listed.content, ran.content]);
    await assert.rejects(session.turn("", { input: undefined, resume: true }), (error) => {
      assert.deepEqual([error.code, error.data.kind], [-32803, "nothingToResume"]);
      return true;
    });
  });
});

test("an empty session leaves nothing on disk", async (t) => {
  const editor = await Editor.start(t);
  const session = await editor.session();
  assert.equal(session.opened.seq, -1);
  assert.equal(await editor.leave(), 0);
  const left = await readdir(editor.state, { recursive: true });
  assert.deepEqual(
    left.filter((name) => name.endsWith(".jsonl")),
    [],
  );
});

test("a client that saw text before a kill finds it again, and goes on from its last seq", async (t) => {
  const first = await Editor.start(t);
  first.model.play(holds("Half a sentence that"), says("Go on."));
  const before = await first.session();
  before.turn("Talk");
  await before.values.find(() => before.streamed.endsWith("that"), "the text");
  const seen = before.values.items.filter((value) => "seq" in value).at(-1).seq;
  first.server.process.kill("SIGKILL");
  await first.server.exited;

  const second = await Editor.start(t, {
    model: first.model,
    state: first.state,
    at: first.folder,
  });
  const token = "after the kill";
  await second.request("turnbuckle/session/open", { sessionId: before.id });
  const { from } = await second.request("turnbuckle/session/events", {
    sessionId: before.id,
    token,
    after: seen,
  });
  assert.equal(from, seen + 1);
  const stored = await second.stored(before.id);
  assert.ok(stored.length > seen, "what was shown is on disk");
  const said = stored.filter((fact) => fact.type === "assistant/message").at(-1);
  assert.deepEqual(
    [said.data.content, said.data.interrupted, said.seq > seen],
    ["Half a sentence that", true, true],
  );
});
