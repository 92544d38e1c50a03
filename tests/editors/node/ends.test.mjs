/** How a server ends: with the right exit code, and with nothing of it left running. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { connect } from "node:net";
import test from "node:test";

import { Editor } from "./lib/editor.mjs";
import { Lingering } from "./lib/lingering.mjs";
import { calls } from "./lib/model.mjs";
import { Server, folder } from "./lib/process.mjs";
import { Raw } from "./lib/raw.mjs";
import { within } from "./lib/wait.mjs";

const posix = { skip: process.platform === "win32" && "signals of POSIX" };

/** An editor whose turn runs a command that does not end by itself. */
async function busy(t) {
  const editor = await Editor.start(t);
  const lingering = await Lingering.start(t);
  editor.model.play(calls(["run_command", { command: lingering.command }]));
  const session = await editor.session();
  const turn = session.turn("Run it");
  const { approvalId } = await session.fact("approval/asked");
  await editor.approve({ approvalId, decision: "allow" });
  await lingering.running();
  return { editor, lingering, session, turn };
}

/** What the log says of a turn that was cut off. */
async function closed(session) {
  const facts = await session.stored();
  const result = facts.find((fact) => fact.type === "tool/result").data;
  assert.deepEqual([result.isError, result.code], [true, "ABORTED"]);
  assert.deepEqual(facts.at(-1).data.end, { kind: "aborted", cause: "shutdown" });
}

test("the end of its input ends the server and what it runs", async (t) => {
  const { editor, lingering, session } = await busy(t);
  editor.server.process.stdin.end();
  assert.equal(await editor.server.code(), 1);
  await lingering.ended();
  await closed(session);
});

test("a question whose client has gone is never a yes", async (t) => {
  const editor = await Editor.start(t);
  editor.model.play(calls(["run_command", { command: "echo ran > ran" }]));
  const session = await editor.session();
  session.turn("Run it");
  await session.fact("approval/asked");

  editor.server.process.stdin.end();

  assert.equal(await editor.server.code(), 1);
  assert.deepEqual(await readdir(editor.folder), []);
  const facts = await session.stored();
  const data = (type) => facts.find((fact) => fact.type === type)?.data;
  assert.ok(["cancelled", "unavailable"].includes(data("approval/decided").outcome));
  assert.equal(data("tool/result").code, "ABORTED_BEFORE_DISPATCH");
  assert.equal(data("tool/start"), undefined);
  assert.deepEqual(data("turn/end").end, { kind: "aborted", cause: "shutdown" });
});

test("shutdown ends the turn first, and exit then gives 0", async (t) => {
  const { editor, lingering, session, turn } = await busy(t);
  assert.equal(await editor.leave(), 0);
  assert.deepEqual((await turn).end, { kind: "aborted", cause: "shutdown" });
  await lingering.ended();
  await closed(session);
});

test("exit without shutdown gives 1", async (t) => {
  const { editor, lingering } = await busy(t);
  await editor.notify("exit");
  assert.equal(await editor.server.code(), 1);
  await lingering.ended();
});

test("SIGTERM ends the server with 143 and what it runs", posix, async (t) => {
  const { editor, lingering, session } = await busy(t);
  editor.server.process.kill("SIGTERM");
  assert.equal(await editor.server.code(), 143);
  await lingering.ended();
  await closed(session);
});

test("a server on a port", async (t) => {
  const server = new Server(t, await folder(t), { args: ["--tcp", "127.0.0.1:0"] });
  const [line] = await within(once(server.process.stdout, "data"), "the line with the port");
  const { port, token } = JSON.parse(line.toString());

  const call = async () => {
    const socket = connect(port, "127.0.0.1");
    t.after(() => socket.destroy());
    await once(socket, "connect");
    return { socket, raw: new Raw(socket, socket) };
  };
  const bring = (shown) => ({ initializationOptions: { turnbuckle: { token: shown } } });

  for (const [name, params] of [
    ["without the token", {}],
    ["with a wrong token", bring("x".repeat(token.length))],
    ["with a token that is no text", bring(7)],
  ]) {
    await t.test(`refuses a client ${name} with −32803, and hangs up`, async () => {
      const { socket, raw } = await call();
      const ended = once(socket, "close");
      const { error } = await raw.initialize(params);
      assert.deepEqual([error.code, error.data.kind], [-32803, "token"]);
      assert.ok(!JSON.stringify(error).includes(token));
      await within(ended, "the end of the connection");
    });
  }

  await t.test("answers nothing before initialize but −32002", async () => {
    const { raw, socket } = await call();
    const { error } = await raw.ask(1, "turnbuckle/session/open", {});
    assert.equal(error.code, -32002);
    socket.destroy();
  });

  await t.test("serves the client that brings the token, and no second one", async () => {
    const { raw, socket } = await call();
    const { result } = await raw.initialize(bring(token));
    assert.equal(result.serverInfo.name, "turnbuckle");
    const opened = await raw.ask(2, "turnbuckle/session/open", {});
    assert.equal(opened.result.readOnly, false);

    const second = await call();
    const { error } = await second.raw.initialize(bring(token));
    assert.equal(error.code, -32803, "a token is good for one client");

    await raw.ask(3, "shutdown");
    raw.send({ method: "exit" });
    await within(once(socket, "close"), "the end of the connection");
    assert.equal(await server.code(), 0);
  });
});

test("a server for anything but this machine does not start", async (t) => {
  const server = new Server(t, await folder(t), { args: ["--tcp", "0.0.0.0:0"] });
  assert.equal(await server.code(), 2);
  assert.match(server.errors, /only 127\.0\.0\.1/);
});
