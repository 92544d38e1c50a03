import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { calls, results, says, type Play } from "./model";
import { kept, Workbench, type Panel } from "./workbench";

const STATS = [
  "import os",
  "",
  "",
  "def mean(items):",
  "    x = sum(items)",
  "    return x / len(items)",
  "",
  "",
  "def spread(items):",
  "    return max(items) - min(items)",
  "",
].join("\n");

const edit = (path: string): [string, object] => [
  "edit_file",
  {
    path,
    edits: [
      { old: "import os\n", new: '"""Small statistics."""\n' },
      {
        old: "    x = sum(items)\n",
        new: "    if not items:\n        raise ValueError\n    x = sum(items)\n",
      },
      { old: "max(items) - min(items)", new: "max(items) - min(items) if items else 0" },
    ],
  },
];

let vs: Workbench;
let panel: Panel;

beforeAll(async () => {
  vs = await Workbench.start();
  // Each journey has a file of its own: the editor remembers what it had open.
  for (const name of ["lens.py", "chat.py", "tweak.py", "back.py"]) vs.write(name, STATS);
  vs.write("broken.json", '{"a": 1,, "b": 2}\n');
  await vs.open();
}, 120_000);

afterAll(async () => vs?.stop(), 30_000);

beforeEach(async (context) => {
  kept(context, vs);
  while (await vs.page.locator(".tabs-container .tab").count()) {
    await vs.command("View: Revert and Close Editor"); // else it is asked what to do with changes
  }
  await vs.command("Notifications: Clear All Notifications");
  panel = await vs.showChat();
  await panel.button("New session").click();
  await panel.text("Ask, review, accept").waitFor();
});

async function propose(path: string, ...then: Play[]): Promise<void> {
  vs.model.play(calls("", ["read_file", { path }]), calls("I propose.", edit(path)), ...then);
  await panel.send(`Improve ${path}`);
  await panel.button("Accept all").waitFor();
}

describe("a proposed edit", () => {
  it("is accepted for one hunk of three, where the code stands", async () => {
    await vs.openFile("lens.py");
    await propose("lens.py", says("One of three."));
    const lens = vs.page.locator(".codelens-decoration", { hasText: "Accept" });
    await expect.poll(() => lens.count()).toBe(3);
    await vs.picture("lenses");
    await lens.nth(1).locator("a", { hasText: "Accept" }).click();
    await expect.poll(() => lens.count()).toBe(2);
    await expect.poll(() => vs.editorText()).toContain("raise ValueError");
    await panel.reject();
    await panel.text("One of three.").waitFor();
    const told = results(await vs.model.request(3)).at(-1)!;
    expect(told).toContain("1 of 3 places");
    const text = await vs.editorText();
    expect(text).toContain("import os");
    expect(text).not.toContain("if items else 0");
    expect(vs.read("lens.py")).toBe(STATS); // an open file changes in the editor, and is not saved
  });

  it("is decided hunk by hunk in the chat", async () => {
    await propose("chat.py", says("Two of three."));
    const hunks = panel.frame.locator(".hunk");
    await panel.answer(hunks.nth(0).getByRole("button", { name: "Accept" }));
    await panel.answer(hunks.nth(1).getByRole("button", { name: "Reject" }));
    await panel.answer(hunks.nth(2).getByRole("button", { name: "Accept" }));
    await panel.text("Two of three.").waitFor();
    expect(vs.read("chat.py")).toContain("Small statistics");
    expect(vs.read("chat.py")).not.toContain("ValueError");
  });

  it("is tweaked in the diff, and accepted as the person made it", async () => {
    await propose("tweak.py", says("Yours is better."));
    await panel.button("Review").click();
    await vs.tab("proposed edit").waitFor();
    await vs.picture("diff");
    const right = vs.page.locator(".editor.modified .view-line", { hasText: "raise ValueError" });
    await right.click();
    await vs.page.keyboard.press("End");
    await vs.page.keyboard.type('("no items")');
    await vs.page.locator(".editor-actions a[aria-label^='Accept This Edit']").click();
    await panel.text("Yours is better.").waitFor();
    const told = results(await vs.model.request(3)).at(-1)!;
    expect(told).toContain("no items");
    // The diff has opened the file, so that it is changed there, and is the person's to save.
    await expect.poll(() => vs.tab("proposed edit").count()).toBe(0);
    await vs.openFile("tweak.py");
    await expect.poll(() => vs.editorText()).toContain('raise ValueError("no items")');
  });

  it("is taken back with its files, and that is undone", async () => {
    await propose("back.py", says("Applied."));
    await panel.answer(panel.button("Accept all"));
    await panel.text("Applied.").waitFor();
    await expect.poll(() => vs.read("back.py")).toContain("Small statistics");
    await panel.frame.locator(".user-card").hover();
    await panel.button("Take back from here…").click();
    await panel.button("Chat and files").click();
    await expect.poll(() => vs.read("back.py")).toBe(STATS);
    await vs.picture("rewound");
    await panel.button("More").click();
    await panel.frame.getByRole("menuitem", { name: "Undo the last" }).click();
    await expect.poll(() => vs.read("back.py")).toContain("Small statistics");
  });
});

describe("while the panel is hidden", () => {
  it("a question comes as one notification that leads to the choices", async () => {
    vs.model.play(calls("", ["run_command", { command: "echo hidden" }]), says("It ran."));
    await panel.send("Run it");
    await panel.button("Allow once").waitFor();
    await vs.command("View: Toggle Secondary Side Bar Visibility");
    const status = vs.page.locator(".statusbar-item", { hasText: "Turnbuckle: 1" });
    await status.waitFor();
    const toast = vs.toast("Turnbuckle asks: Run echo hidden");
    await toast.waitFor();
    await vs.picture("hidden");
    await toast.getByRole("button", { name: "Review…" }).click();
    const row = vs.page.locator(".quick-input-list .monaco-list-row", { hasText: "Allow once" });
    await row.click();
    const asked = await vs.model.request(2);
    expect(results(asked)[0]).toContain("hidden");
    await expect.poll(() => status.count()).toBe(0);
    panel = await vs.showChat();
    await panel.text("It ran.").waitFor();
  });
});

describe("the editor", () => {
  it("offers the agent for a problem, and the answer goes along with it", async () => {
    vs.model.play(says("There is one comma too many."));
    await vs.openFile("broken.json");
    await vs.page.locator(".squiggly-error").first().waitFor();
    await vs.command("Go to Next Problem in Files");
    await vs.page.keyboard.press("Escape");
    await vs.page.keyboard.press("Control+.");
    const offer = vs.page
      .locator(".action-widget .monaco-list-row", { hasText: /agent: fix/i })
      .first();
    await offer.waitFor();
    await vs.picture("quickfix");
    await offer.click();
    const asked = await vs.model.request(1);
    expect(JSON.stringify(asked.messages)).toContain("broken.json");
    expect(JSON.stringify(asked.messages).toLowerCase()).toContain("property expected");
  });
});
