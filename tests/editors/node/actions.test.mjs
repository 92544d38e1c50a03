/** What an editor without a plugin has: code actions, commands, progress, and a document. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { WorkDoneProgressCancelNotification } from "vscode-languageserver-protocol/node";

import { Editor, PLAIN } from "./lib/editor.mjs";
import { calls, holds, says } from "./lib/model.mjs";
import { range } from "./lib/text.mjs";
import { Gate, within } from "./lib/wait.mjs";

const prompted = (request) => request.body.messages.map((message) => message.content).join("\n");
const ended = ({ value }) => value.kind === "end";

test("a plain editor", async (t) => {
  const editor = await Editor.start(t, { capabilities: PLAIN });
  const { model } = editor;
  const uri = await editor.opens("code.py", "def f():\n    return 1/0\n");
  const problem = {
    range: range(1, 11, 1, 14),
    severity: 1,
    source: "lint",
    code: "E1",
    message: "division by zero\nmore about it",
  };
  let shown = 0;
  const document = async () => {
    const name = fileURLToPath(await editor.shown.nth(++shown, "shown document"));
    return readFile(name, "utf8");
  };

  await t.test("asks about a selection, sees it work, and is shown the answer", async () => {
    const gate = new Gate();
    model.play(calls(["list_files", {}]), holds("It divides **by zero**.", gate));
    const [action] = await editor.codeActions(uri, range(1, 4, 1, 14));
    assert.equal(action.title, "Ask the agent");
    assert.equal(action.kind, "refactor.turnbuckle");

    const result = await editor.command(action.command.command, ...action.command.arguments);

    assert.deepEqual(Object.keys(result).sort(), ["key", "sessionId"]);
    assert.equal(editor.work.items.filter(ended).length, 0, "a command does not wait for its turn");
    assert.match(prompted(await model.request(1)), /selected .*code\.py, line 2:\n\n```\nreturn 1\/0\n```/);
    await model.request(2);
    gate.open();

    const end = await editor.work.find(ended, "the end of the progress");
    const values = editor.work.items.filter(({ token }) => token === end.token);
    const [begin, ...reports] = values.map(({ value }) => value);
    assert.deepEqual([begin.kind, begin.title, begin.cancellable], ["begin", "Turnbuckle", true]);
    assert.ok(reports.some((value) => value.message === "list_files"));
    assert.deepEqual(reports.at(-1), { kind: "end", message: "completed" });
    assert.doesNotMatch(JSON.stringify(values), /by zero/, "no text of the model on it");

    const text = await document();
    assert.match(text, /It divides \*\*by zero\*\*\./);
    assert.doesNotMatch(text, /[0-9a-f]{32}/, "ids of questions are in no transcript");
    const stored = await editor.stored(result.sessionId);
    assert.equal(stored.find((fact) => fact.type === "inbox/added").data.key, result.key);
  });

  await t.test("has a diagnostic mended, in the same session", async () => {
    model.play(says("Mended."));
    const actions = await editor.codeActions(uri, problem.range, { diagnostics: [problem] });
    const fix = actions.find((action) => action.kind === "quickfix.turnbuckle");
    assert.equal(fix.title, "Ask the agent: fix “division by zero”");
    assert.deepEqual(fix.diagnostics, [problem]);

    await editor.command(fix.command.command, ...fix.command.arguments);

    const said = prompted(await model.request(3));
    assert.match(said, /line 2: error \(lint E1\): division by zero\nmore about it/);
    assert.match(said, /It divides \*\*by zero\*\*\./, "it goes on with what was said before");
    assert.match(await document(), /Mended\./);
  });

  await t.test("is offered only the kinds that it asks for", async () => {
    const kinds = async (...only) => {
      const context = { diagnostics: [problem], only };
      const actions = await editor.codeActions(uri, problem.range, context);
      return [...new Set(actions.map((action) => action.kind))];
    };
    assert.deepEqual(await kinds("quickfix"), ["quickfix.turnbuckle"]);
    assert.deepEqual(await kinds("refactor"), ["refactor.turnbuckle"]);
    assert.deepEqual(await kinds("refactor.turnbuckle"), ["refactor.turnbuckle"]);
    assert.deepEqual(await kinds("source.organizeImports", "quick"), []);
  });

  await t.test("cancels from the progress, and the next question is answered", async () => {
    model.play(holds("Words without end"), says("Short."));
    const before = editor.work.items.length;
    await editor.command("turnbuckle.ask", { prompt: "Talk" });
    const request = await model.request(4);
    const { token } = await editor.work.nth(before + 1);

    await editor.notify(WorkDoneProgressCancelNotification.type, { token });

    await within(request.gone, "the model's connection is closed");
    const end = await editor.work.find((one) => ended(one) && one.token === token);
    assert.equal(end.value.message, "aborted");
    await document();
    await editor.command("turnbuckle.ask", { prompt: "Again" });
    assert.match(await document(), /Short\./);
  });

  await t.test("cancels by command", async () => {
    model.play(holds("Words without end"));
    const { sessionId } = await editor.command("turnbuckle.ask", { prompt: "Talk" });
    const request = await model.request(6);
    assert.equal((await editor.command("turnbuckle.cancel")).outcome, "cancelled");
    await within(request.gone, "the model's connection is closed");
    await document();
    const end = (await editor.stored(sessionId)).at(-1);
    assert.deepEqual(end.data.end, { kind: "aborted", cause: "user" });
    assert.equal((await editor.command("turnbuckle.cancel", { sessionId })).outcome, "nothing");
  });

  await t.test("sees what is being done now where the progress comes late", async () => {
    const gate = new Gate();
    model.play(holds("Late.", gate));
    editor.progress = () => model.request(7).then(() => undefined);
    const before = editor.work.items.length;
    await editor.command("turnbuckle.ask", { prompt: "Talk" });
    const { value } = await editor.work.nth(before + 1);
    assert.deepEqual([value.kind, value.message], ["begin", "asking played"]);
    gate.open();
    await document();
    editor.progress = () => undefined;
  });

  await t.test("answers an edit in its own menu while the question waits", async () => {
    editor.answer = () => new Promise(() => {});
    const edit = { path: "code.py", edits: [{ old: "1/0", new: "1" }] };
    model.play(calls(["read_file", { path: "code.py" }]), calls(["edit_file", edit]), says("No?"));
    await editor.command("turnbuckle.ask", { prompt: "Mend it" });
    await editor.prompts.nth(1, "prompt");

    const actions = await editor.codeActions(uri, range(0, 0, 0, 0));
    const reject = actions.find((action) => action.title.startsWith("Reject all: +1 −1"));
    const outcome = await editor.command(reject.command.command, ...reject.command.arguments);

    assert.equal(outcome.outcome, "rejected");
    assert.match(await document(), /No\?/);
    assert.equal(editor.text(uri), "def f():\n    return 1/0\n");
  });

  await t.test("gets −32602 for a command that is not there, or with wrong arguments", async () => {
    const wrong = async (name, about, ...args) =>
      assert.rejects(editor.command(name, ...args), (error) => {
        assert.equal(error.code, -32602);
        assert.match(error.message, about);
        return true;
      });
    await wrong("turnbuckle.nothing", /turnbuckle\.nothing.*turnbuckle\.ask/);
    await wrong("turnbuckle.ask", /prompt/, { prompt: 7 });
    await wrong("turnbuckle.ask", /prompt/);
    await wrong("turnbuckle.ask", /one object/, {}, {});
    await wrong("turnbuckle.cancel", /arguments/, "all");
  });

  assert.equal(await editor.leave(), 0);
});

test("an editor that shows no documents and knows no code action literals", async (t) => {
  const capabilities = { workspace: { applyEdit: true } };
  const editor = await Editor.start(t, { capabilities });
  editor.model.play(says("The answer is here."), holds("…"));
  const uri = await editor.opens("code.py", "pass\n");
  const [command] = await editor.codeActions(uri, range(0, 0, 0, 4));
  assert.equal(command.command, "turnbuckle.ask", "it gets the bare command");

  await editor.command(command.command, ...command.arguments);

  await editor.messages.find((text) => text === "The answer is here.", "the answer as a message");
  assert.equal(editor.work.items.length, 0);
  assert.equal(editor.shown.items.length, 0);
});
