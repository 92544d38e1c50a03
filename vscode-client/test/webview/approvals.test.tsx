// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import type { Value } from "../../src/shared/messages";
import { expectAccessible, fact, fixture, LIVE, mount, until, type Mounted } from "./panel";

/** A card answers only after a moment. */
async function ready(panel: Mounted): Promise<void> {
  await expect.poll(() => panel.root.querySelector(".approval.early")).toBeNull();
}

async function asked(values: Value[]): Promise<Mounted> {
  const panel = await mount();
  await panel.show([...values, LIVE]);
  await ready(panel);
  return panel;
}

const command = () => asked(until(fixture("fix"), "approval/asked"));
const change = () => asked(until(fixture("fix"), "approval/asked", 2));
const question = () => asked(until(fixture("denied"), "approval/asked", 2));
const outside = () => asked(until(fixture("stopped"), "approval/asked"));

function subject(raw: Record<string, unknown>, choices = ["allow", "reject"]): Value[] {
  const at = { turn: 1, step: 1, callId: "c" };
  return [
    fact(0, "turn/start", { turn: 1 }),
    fact(1, "tool/call", { ...at, name: "act", arguments: "{}" }),
    fact(2, "approval/asked", { approvalId: "a", callId: "c", subject: raw, digest: "d", choices }),
  ];
}

describe("a command", () => {
  it("is shown in full with its folder, and can be allowed once", async () => {
    const panel = await command();
    expect(panel.root.querySelector(".command")?.textContent).toBe('sh -c "echo 1 failed; exit 1"');
    expect(panel.root.querySelector(".approval")?.textContent).toContain("in work");
    await panel.click(panel.button("Allow once"));
    expect(panel.calls("turnbuckle/approve")).toEqual([
      { approvalId: expect.any(String), decision: "allow" },
    ]);
    await expectAccessible();
  });

  it("can be allowed for the session", async () => {
    const panel = await command();
    await panel.click(panel.button("Allow for this session"));
    expect(panel.calls("turnbuckle/approve")).toMatchObject([
      { decision: "allow", remember: "session" },
    ]);
  });

  it("is rejected with a note, by the keyboard alone, but not while letters are composed", async () => {
    const panel = await command();
    await panel.click(panel.button("Reject…"));
    const note = panel.root.querySelector<HTMLInputElement>(".note input")!;
    expect(document.activeElement).toBe(note);
    await panel.type("use pytest", note);
    await panel.key(note, "Enter", { isComposing: true });
    await panel.key(note, "Enter", { keyCode: 229 });
    expect(panel.calls("turnbuckle/approve")).toEqual([]);
    await expectAccessible();
    await panel.key(note, "Enter");
    expect(panel.calls("turnbuckle/approve")).toMatchObject([
      { decision: "reject", note: "use pytest" },
    ]);
  });

  it("is not answered by a click that was meant for something else, nor twice", async () => {
    const panel = await mount();
    await panel.show([...until(fixture("fix"), "approval/asked"), LIVE]);
    const allow = panel.button("Allow once");
    await panel.click(allow);
    expect(panel.calls("turnbuckle/approve")).toEqual([]);
    await ready(panel);
    await panel.click(allow);
    await panel.click(allow);
    await panel.click(panel.button("Allow for this session"));
    expect(panel.calls("turnbuckle/approve")).toHaveLength(1);
  });

  it("that was refused can be answered again", async () => {
    const panel = await command();
    await panel.click(panel.button("Allow once"));
    const { id } = panel.sent.findLast(
      (one) => one.type === "call" && one.method === "turnbuckle/approve",
    ) as { id: number };
    await panel.say({ type: "refused", id, code: -32803, message: "the server is gone" });
    expect(panel.root.querySelector(".banner")?.textContent).toContain("the server is gone");
    await panel.click(panel.button("Allow once"));
    expect(panel.calls("turnbuckle/approve")).toHaveLength(2);
  });

  it("takes no focus when it comes, and is announced in full", async () => {
    const panel = await mount();
    const before = until(fixture("fix"), "tool/call", 4);
    await panel.show([LIVE, ...before]);
    panel.field.focus();
    await panel.more(...fixture("fix").slice(before.length, before.length + 1));
    expect(panel.root.querySelector(".approval")).not.toBeNull();
    expect(document.activeElement).toBe(panel.field);
    expect(panel.root.querySelector('[role="status"]')?.textContent).toContain(
      'Run sh -c "echo 1 failed; exit 1"',
    );
    await panel.key(panel.field, "ArrowUp", { altKey: true });
    expect(document.activeElement).toBe(panel.root.querySelector(".approval"));
  });

  it("that is asked for again in the same words is announced again", async () => {
    const panel = await mount();
    const again = subject({ kind: "command", command: "ls", cwd: "file:///work", reason: "" });
    await panel.show([LIVE, ...again]);
    const said = () => panel.root.querySelector('[role="status"]')!.firstElementChild!;
    const first = said();
    await panel.more(
      fact(3, "approval/decided", { approvalId: "a", outcome: "allowed", by: "person" }),
      fact(4, "tool/call", { turn: 1, step: 2, callId: "d", name: "act", arguments: "{}" }),
    );
    const next = { ...again[2]!.data, approvalId: "b", callId: "d" } as never;
    await panel.more(fact(5, "approval/asked", next));
    expect(said().textContent).toBe(first.textContent);
    expect(said()).not.toBe(first);
  });

  it("says why it was not allowed by itself, and so does a change", async () => {
    const why = "it would change what the editor runs, which is asked about each time";
    for (const raw of [
      { kind: "command", command: "ls", cwd: "file:///work", reason: why },
      {
        kind: "change",
        reason: why,
        files: [{ uri: "file:///work/x", kind: "delete", hunks: [] }],
      },
    ]) {
      const panel = await asked(subject(raw));
      expect(panel.root.querySelector(".approval")?.textContent).toContain(why);
    }
  });

  it("says nothing of a reason that is the rule", async () => {
    for (const panel of [await command(), await change()]) {
      expect(panel.root.querySelector(".approval")?.textContent).not.toContain("asked about first");
    }
  });

  it("of four hundred lines is all there, and scrolls with the keyboard", async () => {
    const lines = Array.from({ length: 400 }, (_, index) => `echo ${index}`).join("\n");
    const raw = {
      kind: "command",
      command: lines,
      cwd: `file:///${"d/".repeat(2500)}`,
      reason: "",
    };
    const panel = await asked(subject(raw));
    const shown = panel.root.querySelector<HTMLElement>(".command")!;
    expect(shown.textContent).toBe(lines);
    expect(shown.tabIndex).toBe(0);
    await expectAccessible();
  });

  it("that another window asks is answered there", async () => {
    for (const nth of [1, 2]) {
      const panel = await mount();
      await panel.show([...until(fixture("fix"), "approval/asked", nth), LIVE], { readOnly: true });
      await ready(panel);
      const card = panel.root.querySelector(".approval")!;
      expect(card.textContent).toContain("Another window asks this");
      expect([...card.querySelectorAll("button:enabled")]).toEqual([]);
      expect(() => panel.button("Stop")).toThrow();
      expect(panel.root.querySelector(".state-line")?.textContent).toBe("Runs in another window");
      await expectAccessible();
    }
  });

  it("that was answered elsewhere a moment before says so", async () => {
    const panel = await command();
    await panel.click(panel.button("Allow once"));
    await panel.answer("turnbuckle/approve", { accepted: false });
    expect(panel.root.querySelector(".banner")?.textContent).toContain("answered already");
  });

  it("that is answered leaves the keyboard where it stood", async () => {
    const panel = await command();
    const allow = panel.button("Allow once");
    allow.focus();
    await panel.click(allow);
    expect(document.activeElement?.hasAttribute("data-item")).toBe(true);
    await panel.more(...until(fixture("fix"), "tool/result", 4));
    expect(panel.root.querySelector(".approval")).toBeNull();
    expect(document.activeElement?.getAttribute("aria-label")).toContain("Ran sh -c");
  });
});

describe("a change", () => {
  it("is shown by hunks with line numbers, each of which is decided once", async () => {
    const panel = await change();
    const rows = [...panel.root.querySelectorAll(".diff tr")].map((row) =>
      [...row.querySelectorAll(".line, .code")].map((cell) => cell.textContent).join(" "),
    );
    expect(rows.slice(0, 3)).toEqual([
      "1 import os",
      '1 """Small statistics."""',
      "8     x = total(items)",
    ]);
    const [first] = panel.root.querySelectorAll<HTMLElement>(".hunk");
    await panel.click(panel.button("Reject", first));
    await panel.click(panel.button("Accept", first));
    expect(panel.calls("turnbuckle/approve")).toEqual([
      {
        approvalId: expect.any(String),
        hunks: {
          [Object.keys(panel.calls("turnbuckle/approve")[0]!["hunks"] as object)[0]!]: false,
        },
      },
    ]);
    await expectAccessible();
    const asked = until(fixture("fix"), "approval/asked", 2).length;
    await panel.more(...fixture("fix").slice(asked, asked + 1));
    expect(first?.textContent).toContain("rejected");
    await panel.click(panel.button("Accept the rest"));
    expect(panel.calls("turnbuckle/approve").at(-1)).toMatchObject({ decision: "allow" });
  });

  it("opens a review only when asked", async () => {
    const panel = await change();
    expect(panel.done("review")).toEqual([]);
    await panel.click(panel.button("Review"));
    expect(panel.done("review")).toHaveLength(1);
  });

  it("that renames says where to", async () => {
    const files = [
      { uri: "file:///work/a/x.py", newUri: "file:///work/b/y.py", kind: "rename", hunks: [] },
    ];
    const panel = await asked(subject({ kind: "change", reason: "", files }));
    expect(panel.root.querySelector(".approval")?.textContent).toMatch(
      /Rename x\.py to y\.py\?.*a\/x\.py.*b\/y\.py/,
    );
  });

  it("spells out what hides, also at the ends of lines", async () => {
    const hunks = [{ hunkId: "h", line: 0, oldText: "a\r\n", newText: "a\u202e\n" }];
    const panel = await asked(
      subject({
        kind: "change",
        reason: "",
        files: [{ uri: "file:///work/x", kind: "edit", hunks }],
      }),
    );
    const cells = [...panel.root.querySelectorAll(".code")].map((cell) => cell.textContent);
    expect(cells).toEqual(["a\\u{d}", "a\\u{202e}"]);
  });

  it("that is long is shown by and by, and one that is cut off is reviewed first", async () => {
    const lines = Array.from({ length: 90 }, (_, index) => `line ${index}\n`).join("");
    const hunks = [
      { hunkId: "h", line: 0, oldText: "", newText: lines },
      { hunkId: "i", line: 9, truncated: true },
    ];
    const panel = await asked(
      subject({
        kind: "change",
        reason: "",
        files: [{ uri: "file:///work/x", kind: "edit", hunks }],
      }),
    );
    expect(panel.root.querySelectorAll(".diff tr")).toHaveLength(40);
    await panel.click(panel.button("Show 50 more lines"));
    expect(panel.root.querySelectorAll(".diff tr")).toHaveLength(90);
    expect(panel.button("Review").className).toContain("primary");
    expect(panel.button("Accept all").className).not.toContain("primary");
  });
});

describe("a question", () => {
  it("is answered with a choice, with words, or not at all", async () => {
    const choice = await question();
    await expectAccessible();
    await choice.click(choice.button("Only caches"));
    expect(choice.calls("turnbuckle/approve")).toMatchObject([{ answer: "Only caches" }]);
    const words = await question();
    const field = words.root.querySelector<HTMLInputElement>(".approval input")!;
    await words.type("nothing ", field);
    await words.key(field, "Enter");
    expect(words.calls("turnbuckle/approve")).toMatchObject([{ answer: "nothing" }]);
    const none = await question();
    await none.click(none.button("Do not answer"));
    expect(none.calls("turnbuckle/approve")).toMatchObject([{ decision: "reject" }]);
  });
});

describe("a question that no call asks", () => {
  const asks = (seq: number, approvalId: string): Value =>
    fact(seq, "approval/asked", {
      approvalId,
      callId: "plugin/step_limit",
      subject: { kind: "question", question: "Go on?", choices: ["Go on", "Stop", "Stop"] },
      digest: "d",
      choices: ["answer", "reject"],
    });
  const decided = (seq: number, approvalId: string, outcome: "allowed" | "cancelled"): Value =>
    fact(seq, "approval/decided", { approvalId, outcome, by: "person", answer: "Go on" });

  it("has a card like any other, each time, and then stands as it was answered", async () => {
    const panel = await asked([fact(0, "turn/start", { turn: 1 }), asks(1, "a")]);
    await expectAccessible();
    expect(panel.root.querySelectorAll(".answers button")).toHaveLength(2);
    await panel.key(panel.field, "ArrowUp", { altKey: true });
    expect(document.activeElement).toBe(panel.root.querySelector(".approval"));
    await panel.click(panel.button("Go on"));
    expect(panel.calls("turnbuckle/approve")).toEqual([{ approvalId: "a", answer: "Go on" }]);
    await panel.more(decided(2, "a", "allowed"), asks(3, "b"));
    expect(panel.root.querySelectorAll(".approval")).toHaveLength(1);
    await panel.more(decided(4, "b", "cancelled"));
    expect(panel.root.querySelector(".approval")).toBeNull();
    const lines = [...panel.root.querySelectorAll(".call > summary")].map((one) => one.textContent);
    expect(lines).toEqual(["AskedGo on?", "AskGo on?not run"]);
    await panel.click(panel.root.querySelector(".call > summary")!);
    expect(panel.root.querySelector(".said")?.textContent).toBe("You: Go on");
  });
});

describe("other subjects", () => {
  it("a place outside of the workspace is named", async () => {
    const panel = await outside();
    expect(panel.root.querySelector(".approval")?.textContent).toMatch(
      /Read outside of the workspace\?.*\/etc\/hostname/,
    );
    await expectAccessible();
  });

  it("a kind that is not known is shown as it came, and offers only what was offered", async () => {
    const panel = await asked(
      subject({ kind: "teleport", to: "<script>alert(1)</script>" }, ["reject"]),
    );
    expect(panel.root.querySelector(".command")?.textContent).toContain(
      '"to": "<script>alert(1)</script>"',
    );
    expect(() => panel.button("Allow once")).toThrow();
    await expectAccessible();
  });

  it("a command that hides something shows it", async () => {
    const panel = await asked(
      subject({
        kind: "command",
        command: "rm \u202e x\u0007\u200b\n",
        cwd: "file:///work",
        reason: "",
      }),
    );
    expect(panel.root.querySelector(".command")?.textContent).toBe(
      "rm \\u{202e} x\\u{7}\\u{200b}\n",
    );
  });
});
