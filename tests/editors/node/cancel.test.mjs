/** Cancelling stops what runs, keeps what was said, and leaves the session ready. */

import assert from "node:assert/strict";
import test from "node:test";

import { Editor } from "./lib/editor.mjs";
import { Lingering } from "./lib/lingering.mjs";
import { calls, holds, says } from "./lib/model.mjs";
import { Gate, within } from "./lib/wait.mjs";

const cancelled = { code: -32800 };
const aborted = { kind: "aborted", cause: "user" };

test("cancelling", async (t) => {
  const editor = await Editor.start(t);
  const { model } = editor;
  let asks = 0;
  const nextRequest = () => model.request((asks += 1));
  const cancel = (session, params) =>
    editor.request("turnbuckle/cancel", { sessionId: session.id, ...params });

  await t.test("the request of a running turn stops it in mid-sentence", async () => {
    model.play(holds("Half a sentence that"), says("Go on."));
    const session = await editor.session();
    const turn = session.turn("Talk");
    const request = await nextRequest();
    await session.values.find(() => session.streamed === "Half a sentence that", "the text");

    turn.cancel();

    await assert.rejects(turn, cancelled);
    await within(request.gone, "the model's connection is closed");
    const { facts } = session;
    assert.deepEqual(facts.at(-1).data, { turn: 1, end: aborted }, "told before the answer");
    const message = await session.fact("assistant/message");
    assert.equal(message.content, "Half a sentence that");
    assert.equal(message.interrupted, true);
    assert.deepEqual((await session.stored()).at(-1).data.end, aborted);

    assert.deepEqual((await session.turn("Go on")).end, { kind: "completed" });
    const next = await nextRequest();
    const said = next.body.messages.map((one) => one.content);
    assert.ok(
      said.some((text) => text.startsWith("Half a sentence that")),
      "it knows what it said",
    );
  });

  await t.test("the request of a message that waits drops only that message", async () => {
    const gate = new Gate();
    model.play(holds("First.", gate), says("Third."));
    const session = await editor.session();
    const first = session.turn("One");
    await nextRequest();
    const second = session.turn("Two");
    const third = session.turn("Three");
    await session.fact("inbox/added", (added) => added.key === third.key);

    second.cancel();

    await assert.rejects(second, cancelled);
    const dropped = await session.fact("inbox/dropped");
    assert.deepEqual(dropped, { keys: [second.key], why: "cancelled" });
    gate.open();
    assert.equal((await first).end.kind, "completed");
    assert.equal((await third).end.kind, "completed");
    const { body } = await nextRequest();
    assert.ok(!body.messages.some((message) => message.content === "Two"));
  });

  await t.test("with turnbuckle/cancel drops what waits too", async () => {
    model.play(holds("Endless"), says("Fresh."));
    const session = await editor.session();
    const first = session.turn("One");
    await nextRequest();
    const second = session.turn("Two");
    await session.fact("inbox/added", (added) => added.key === second.key);

    await cancel(session);

    assert.deepEqual((await first).end, aborted, "its own request was not cancelled");
    await assert.rejects(second, cancelled);
    await cancel(session); // idle: nothing to do
    assert.deepEqual((await session.turn("Three")).end, { kind: "completed" });
    await nextRequest();
  });

  await t.test("with keepQueue leaves what waits for the next message that wakes it", async () => {
    model.play(holds("Endless"), says("Second."), says("Third."));
    const session = await editor.session();
    const first = session.turn("One");
    await nextRequest();
    const second = session.turn("Two");
    await session.fact("inbox/added", (added) => added.key === second.key);

    await cancel(session, { keepQueue: true });

    assert.deepEqual((await first).end, aborted);
    const third = session.turn("Three");
    assert.equal((await second).turn, 2);
    assert.equal((await third).turn, 3);
    await nextRequest();
    await nextRequest();
  });

  await t.test("withdraws a question, and the call is told not to have run", async () => {
    model.play(calls(["run_command", { command: "echo no" }]), says("Fresh."));
    const session = await editor.session();
    const turn = session.turn("Run");
    await nextRequest();
    const { approvalId } = await session.fact("approval/asked");

    await cancel(session);

    assert.deepEqual((await turn).end, aborted);
    assert.equal((await session.fact("approval/decided")).outcome, "cancelled");
    const result = await session.fact("tool/result");
    assert.deepEqual([result.isError, result.code], [true, "ABORTED_BEFORE_DISPATCH"]);
    const late = await editor.approve({ approvalId, decision: "allow" });
    assert.deepEqual(late, { accepted: false });
    assert.deepEqual((await session.turn("And now?")).end, { kind: "completed" });
    await nextRequest();
  });

  await t.test("ends a running command and whatever it started", async (t) => {
    const lingering = await Lingering.start(t);
    model.play(calls(["run_command", { command: lingering.command }]), says("Fresh."));
    const session = await editor.session();
    const turn = session.turn("Run");
    await nextRequest();
    const { approvalId } = await session.fact("approval/asked");
    await editor.approve({ approvalId, decision: "allow" });
    await lingering.running();

    turn.cancel();

    await assert.rejects(turn, cancelled);
    await lingering.ended();
    assert.equal((await session.fact("tool/result")).code, "ABORTED");
    assert.deepEqual((await session.turn("And now?")).end, { kind: "completed" });
  });

  assert.equal(await editor.leave(), 0);
  assert.equal(editor.server.errors, "");
});
