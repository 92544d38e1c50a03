import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { calls, results, says } from "./model";
import { kept, Workbench, type Panel } from "./workbench";

let vs: Workbench;
let panel: Panel;

beforeAll(async () => {
  vs = await Workbench.start();
  vs.write("stats.py", "def mean(items):\n    return sum(items) / len(items)\n");
  await vs.open();
}, 120_000);

afterAll(async () => vs?.stop(), 30_000);

beforeEach(async (context) => {
  kept(context, vs);
  panel = await vs.showChat();
  await panel.button("New session").click();
  await panel.text("Ask, review, accept").waitFor();
});

describe("what is allowed for a session", () => {
  it("is listed, and taken back", async () => {
    const run = calls("", ["run_command", { command: "echo again" }]);
    vs.model.play(run, says("Once."), run, says("Twice."), run, says("Thrice."));
    await panel.send("Run it");
    await panel.button("Allow for this session").click();
    await panel.text("Once.").waitFor();
    await panel.send("Run it again");
    await panel.text("Twice.").waitFor();
    expect(results(await vs.model.request(4)).join()).toContain("again");
    await vs.command("Turnbuckle: Permissions of This Session");
    const row = vs.page.locator(".quick-input-list .monaco-list-row", { hasText: "echo again" });
    await row.waitFor();
    await vs.picture("permissions");
    await vs.page.keyboard.press("Enter");
    await vs.toast("nothing is allowed").waitFor();
    await panel.send("And again");
    await panel.button("Reject…").waitFor();
  });
});

describe("the terminal", () => {
  it("gives the output of its last command, without the clipboard", async () => {
    await vs.page.evaluate(() => navigator.clipboard.writeText("mine"));
    await vs.command("Terminal: Create New Terminal");
    await vs.page.locator(".terminal-wrapper.active .xterm-helper-textarea").waitFor();
    await vs.page.locator(".terminal-wrapper.active .xterm-helper-textarea").focus();
    await vs.page.keyboard.type("echo from-the-$((40+2)); touch done\n");
    await expect.poll(() => existsSync(join(vs.folder, "done"))).toBe(true);
    await vs.command("Turnbuckle: Add Last Terminal Output to Chat");
    await panel.text("terminal").waitFor();
    await vs.picture("terminal");
    vs.model.play(says("I see."));
    await panel.send("What is this?");
    await panel.text("I see.").waitFor();
    expect(JSON.stringify((await vs.model.request(1)).messages)).toContain("from-the-42");
    expect(await vs.page.evaluate(() => navigator.clipboard.readText())).toBe("mine");
  });
});

describe("the transcript", () => {
  it("is opened as Markdown", async () => {
    vs.model.play(says("Hello, **you**."));
    await panel.send("Hi");
    await panel.text("Hello").waitFor();
    await vs.command("Turnbuckle: Open the Transcript as Markdown");
    await expect.poll(() => vs.editorText()).toContain("Hello, **you**.");
    await vs.picture("transcript");
  });
});

describe("getting started", () => {
  it("shows the walkthrough", async () => {
    await vs.command("Turnbuckle: Get Started");
    await vs.page.getByText("Connect a model, or use the demo").first().waitFor();
    await vs.picture("walkthrough");
  });
});
