/** Every wrong request gets exactly one answer, and that says what is wrong. */

import assert from "node:assert/strict";
import test from "node:test";

import { Editor } from "./lib/editor.mjs";
import { says } from "./lib/model.mjs";
import { Server, folder } from "./lib/process.mjs";
import { Raw } from "./lib/raw.mjs";

test("a wrong request", async (t) => {
  const editor = await Editor.start(t);
  const session = await editor.session();
  const { id: sessionId } = session;
  const input = [{ type: "text", text: "Hello" }];
  const turn = { sessionId, key: "key", input };
  const approvalId = "0".repeat(32);

  const wrong = [
    ["an unknown method", "turnbuckle/nothing", {}, -32601, /turnbuckle\/nothing/],
    ["a method of LSP that is not offered", "textDocument/rename", {}, -32601, /rename/],
    ["no parameters", "turnbuckle/turn", null, -32602, /sessionId.*key/],
    ["one missing parameter", "turnbuckle/turn", { sessionId, input }, -32602, /^key: /],
    ["a parameter of the wrong type", "turnbuckle/turn", { ...turn, key: 7 }, -32602, /^key: /],
    ["parameters that are no object", "turnbuckle/turn", [1], -32602, /params/],
    ["an unknown word", "turnbuckle/turn", { ...turn, whenBusy: "now" }, -32602, /whenBusy/],
    ["nothing to do", "turnbuckle/turn", { ...turn, input: [] }, -32602, /input/],
    ["both input and resume", "turnbuckle/turn", { ...turn, resume: true }, -32602, /resume/],
    [
      "an image that is none",
      "turnbuckle/turn",
      { ...turn, input: [{ type: "image", mimeType: "image/png", data: "AAAA" }] },
      -32602,
      /the data is not image\/png/,
    ],
    [
      "a part of an unknown type",
      "turnbuckle/turn",
      { ...turn, input: [{ type: "video", data: "AAAA" }] },
      -32602,
      /input\.0/,
    ],
    [
      "a session that is not open",
      "turnbuckle/turn",
      { ...turn, sessionId: "none" },
      -32803,
      /none/,
    ],
    [
      "a session that is not there",
      "turnbuckle/session/open",
      { sessionId: "20200101-000000-00000000" },
      -32803,
      /20200101-000000-00000000/,
    ],
    [
      "a session named by a path",
      "turnbuckle/session/open",
      { sessionId: "../../etc/passwd" },
      -32803,
      /passwd/,
    ],
    [
      "a folder that is not there",
      "turnbuckle/session/open",
      { cwd: "file:///no/such/folder" },
      -32602,
      /^cwd: /,
    ],
    ["a folder that is no URI", "turnbuckle/session/open", { cwd: "/tmp" }, -32602, /^cwd: /],
    [
      "a token in use",
      "turnbuckle/session/events",
      { sessionId, token: session.token },
      -32602,
      /^token: /,
    ],
    [
      "a negative count",
      "turnbuckle/session/events",
      { sessionId, token: 1, turns: -1 },
      -32602,
      /^turns: /,
    ],
    ["no decision", "turnbuckle/approve", { approvalId }, -32602, /decision/],
    [
      "an unknown decision",
      "turnbuckle/approve",
      { approvalId, decision: "yes" },
      -32602,
      /^decision: /,
    ],
    [
      "an answer beside a decision",
      "turnbuckle/approve",
      { approvalId, decision: "allow", answer: "blue" },
      -32602,
      /answer/,
    ],
    [
      "a place to remember that is not there",
      "turnbuckle/approve",
      { approvalId, decision: "allow", remember: "ever" },
      -32602,
      /^remember: /,
    ],
    ["an unknown session to cancel", "turnbuckle/cancel", { sessionId: "none" }, -32803, /none/],
    [
      "an unknown session to close",
      "turnbuckle/session/close",
      { sessionId: "none" },
      -32803,
      /none/,
    ],
  ];
  for (const [name, method, params, code, about] of wrong) {
    await t.test(`with ${name} gets ${code}`, () =>
      assert.rejects(editor.request(method, ...(params ? [params] : [])), (error) => {
        assert.equal(error.code, code, error.message);
        assert.match(error.message, about);
        if (code === -32803) assert.equal(error.data.kind, "sessionNotFound");
        return true;
      }),
    );
  }

  await t.test("does no harm: the next right one is answered", async () => {
    assert.equal(session.facts.length, 0, "nothing was written");
    editor.model.play(says("Hello."));
    assert.deepEqual(await session.ended("Hello"), { kind: "completed" });
    assert.equal(await editor.leave(), 0);
    assert.equal(editor.server.errors, "");
  });
});

test("a workspace that is not trusted", async (t) => {
  const editor = await Editor.start(t, { ours: { trusted: false } });
  const session = await editor.session();

  await t.test("runs no turn", () =>
    assert.rejects(session.turn("Hello"), (error) => {
      assert.equal(error.code, -32803);
      assert.deepEqual(error.data, { kind: "untrusted", retryable: false });
      assert.match(error.message, /not trusted/);
      return true;
    }),
  );

  await t.test("tells a command so as an outcome and in one message", async () => {
    const result = await editor.command("turnbuckle.ask", { prompt: "Hello" });
    assert.equal(result.outcome, "refused");
    assert.match(result.message, /not trusted/);
    await editor.messages.find((text) => /not trusted/.test(text), "a message");
    assert.equal(editor.messages.items.length, 1);
  });

  assert.equal(editor.model.requests.items.length, 0);
});

test("the wire", async (t) => {
  const server = new Server(t, await folder(t));
  const raw = new Raw(server.process.stdout, server.process.stdin);
  const code = (answer) => answer.error?.code;

  await t.test("before initialize refuses requests with −32002, and sends nothing", async () => {
    const answer = await raw.ask(1, "turnbuckle/session/open", {});
    assert.equal(code(answer), -32002);
    assert.equal(raw.received.items.length, 1);
  });

  await t.test("answers initialize, with what the server can do", async () => {
    const { result } = await raw.initialize();
    assert.equal(result.serverInfo.name, "turnbuckle");
    const { capabilities } = result;
    assert.equal(capabilities.positionEncoding, "utf-16");
    assert.equal(capabilities.textDocumentSync.openClose, true);
    assert.equal(capabilities.textDocumentSync.change, 2);
    assert.deepEqual(capabilities.codeActionProvider.codeActionKinds, [
      "quickfix.turnbuckle",
      "refactor.turnbuckle",
      "source.turnbuckle",
    ]);
    const { commands } = capabilities.executeCommandProvider;
    for (const name of ["ask", "approve", "reject", "cancel", "acceptHunk", "undoHunk"]) {
      assert.ok(commands.includes(`turnbuckle.${name}`), name);
    }
    assert.equal(capabilities.workspace.workspaceFolders.supported, true);
    assert.equal(capabilities.experimental.turnbuckle.protocolVersion, 1);
  });

  await t.test("refuses a second initialize with −32600", async () => {
    assert.equal(code(await raw.ask("again", "initialize", { capabilities: {} })), -32600);
  });

  const broken = [
    ["JSON that is broken", '{"jsonrpc": "2.0", "id": 7, "method"', -32700],
    ["bytes that are not UTF-8", Buffer.from([0x22, 0xff, 0x22]), -32700],
    ["a list", "[]", -32600],
    ["a number", "7", -32600],
    ["an object without a method", '{"jsonrpc": "2.0"}', -32600],
  ];
  for (const [name, body, expected] of broken) {
    await t.test(`answers ${name} with ${expected} and no id, and reads on`, async () => {
      const count = raw.received.items.length;
      raw.body(body);
      const answer = await raw.received.nth(count + 1, "answer");
      assert.deepEqual([answer.id, code(answer)], [null, expected]);
      assert.deepEqual((await raw.ask(name, "turnbuckle/models", {})).error, undefined);
    });
  }

  await t.test("takes header names in any case, and other headers", async () => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: "cased", method: "turnbuckle/models" });
    const type = "Content-TYPE: application/vscode-jsonrpc; charset=utf-8\r\n";
    raw.to.write(`${type}content-LENGTH:${body.length}\r\n\r\n${body}`);
    const answer = await raw.received.find((message) => message.id === "cased");
    assert.equal(answer.error, undefined);
  });

  await t.test("after shutdown refuses everything with −32600", async () => {
    assert.equal((await raw.ask("shutdown", "shutdown")).result, null);
    assert.equal(code(await raw.ask("late", "turnbuckle/models", {})), -32600);
    assert.equal(code(await raw.ask("later", "initialize", { capabilities: {} })), -32600);
  });

  await t.test("ends with exit code 0 at exit", async () => {
    raw.send({ method: "exit" });
    assert.equal(await server.code(), 0);
    assert.equal(server.errors, "");
  });
});
