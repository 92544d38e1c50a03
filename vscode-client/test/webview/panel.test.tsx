// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import type { Value } from "../../src/shared/messages";
import { expectAccessible, fact, fixture, LIVE, mount, until } from "./panel";

const AT = { turn: 1, step: 1 };

describe("an empty panel", () => {
  it("says how to connect a model, and offers the demo", async () => {
    const panel = await mount();
    await panel.show([LIVE], { config: { model: "demo", provider: "built-in" } });
    await expectAccessible();
    await panel.click(panel.button("Connect a model…"));
    expect(panel.done("connect")).toHaveLength(1);
    await panel.click(panel.button("Try the demo"));
    expect(panel.field.value).toBe("Fix the failing test.");
    expect(document.activeElement).toBe(panel.field);
  });

  it("can be written in before the server is there, and sends once it is", async () => {
    const panel = await mount();
    await panel.say({ type: "server", server: { state: "starting" } });
    expect(panel.root.textContent).toContain("Starting…");
    await panel.type("hello");
    await panel.key(panel.field, "Enter");
    await panel.key(panel.field, "Enter");
    expect(panel.root.textContent).toContain("sent as soon as the server is there");
    await panel.show([LIVE]);
    expect(panel.calls("turnbuckle/turn")).toMatchObject([
      { input: [{ text: "hello" }], whenBusy: "queue" },
    ]);
    expect(panel.field.value).toBe("");
  });

  it("says that the server failed, with a way on", async () => {
    const panel = await mount();
    await panel.say({
      type: "server",
      server: { state: "failed", message: "It ended with code 1." },
    });
    expect(panel.root.querySelector('[role="status"]')?.textContent).toBe("It ended with code 1.");
    await expectAccessible();
    await panel.click(panel.button("Restart"));
    await panel.click(panel.button("Show log"));
    expect([...panel.done("restart"), ...panel.done("showLog")]).toHaveLength(2);
  });

  it("runs nothing in a workspace that is not trusted", async () => {
    const panel = await mount({ draft: "run" }, { trusted: false });
    await panel.show([LIVE, ...fixture("failed")]);
    expect(panel.field.disabled).toBe(true);
    expect(panel.button("Send").disabled).toBe(true);
    expect(() => panel.button("Retry")).toThrow();
    await expectAccessible();
  });
});

describe("a conversation", () => {
  it("that streams is accessible, and does not read its words aloud", async () => {
    const panel = await mount();
    await panel.show([LIVE, ...until(fixture("fix"), "assistant/chunk", 2)]);
    expect(panel.root.querySelector(".markdown")?.textContent).toContain(
      "The test expects ValueError",
    );
    expect(panel.root.querySelector('[role="status"]')?.textContent).not.toContain("ValueError");
    await expectAccessible();
  });

  it("that is done shows what was read, run and changed", async () => {
    const panel = await mount();
    await panel.show([LIVE, ...fixture("fix")]);
    const lines = [...panel.root.querySelectorAll(".call > summary")].map(
      (line) => line.textContent,
    );
    expect(lines).toEqual([
      "Readstats.py9 lines · 2.0 s",
      "Readtest_stats.py9 lines · 2.0 s",
      'Ransh -c "echo 1 failed; exit 1"exit 1 · 1.0 s',
      "Editedstats.py1 of 2 hunks · 3.0 s",
    ]);
    expect(panel.root.querySelector(".meter")?.getAttribute("aria-label")).toMatch(
      /980 of 8,000 tokens/,
    );
    const edited = [...panel.root.querySelectorAll(".call > summary")].at(-1)!;
    await panel.click(edited);
    expect(panel.root.querySelector(".call-details")?.textContent).toMatch(
      /Open stats\.py.*rejected.*accepted/,
    );
    await expectAccessible();
    await panel.click(panel.button("Open stats.py"));
    expect(panel.done("openFile")).toEqual([{ do: "openFile", uri: "file:///work/stats.py" }]);
  });

  it("tells calls that were denied, failed or not run apart", async () => {
    const denied = await mount();
    await denied.show([LIVE, ...fixture("denied")]);
    expect(denied.root.querySelector(".call.denied")?.textContent).toContain("not allowed");
    await denied.click(denied.root.querySelector(".call.denied > summary")!);
    expect(denied.root.querySelector(".said")?.textContent).toBe("You: Not the build folder.");
    const stopped = await mount();
    await stopped.show([LIVE, ...fixture("stopped")]);
    expect(stopped.root.querySelector(".call.notRun")?.textContent).toContain("not run");
    await stopped.click(stopped.button("Resume"));
    await stopped.click(stopped.button("Resume"));
    expect(stopped.calls("turnbuckle/turn")).toMatchObject([{ resume: true }]);
  });

  it("that failed offers a retry and another model", async () => {
    const panel = await mount();
    await panel.show([LIVE, ...fixture("failed")]);
    expect(panel.root.querySelector(".end-line")?.textContent).toContain(
      "The provider refused the key.",
    );
    await expectAccessible();
    await panel.click(panel.button("Connect a model…", panel.root.querySelector(".end-line")!));
    expect(panel.done("connect")).toHaveLength(1);
    await panel.click(panel.button("Retry"));
    expect(panel.calls("turnbuckle/turn")).toMatchObject([{ resume: true }]);
  });

  it("draws many calls that only look together, once something follows", async () => {
    const calls = Array.from({ length: 5 }, (_, index) => `c${index}`).flatMap(
      (callId, index): Value[] => [
        fact(10 + index * 2, "tool/call", {
          ...AT,
          callId,
          name: index ? "read_file" : "search",
          arguments: "{}",
        }),
        fact(11 + index * 2, "tool/result", { ...AT, callId, content: "", isError: false }),
      ],
    );
    const panel = await mount();
    await panel.show([LIVE, fact(1, "turn/start", { turn: 1 }), ...calls]);
    expect(panel.root.querySelectorAll(".call")).toHaveLength(5);
    await panel.more(
      fact(30, "assistant/message", { turn: 1, step: 2, content: "Seen.", finish: "stop" }),
    );
    expect(panel.root.querySelectorAll(".call")).toHaveLength(1);
    expect(panel.root.querySelector(".call")?.textContent).toBe("Read 4 files, searched once");
    await panel.click(panel.root.querySelector(".call > summary")!);
    expect(panel.root.querySelectorAll(".group-calls .call")).toHaveLength(5);
    await expectAccessible();
  });

  it("is walked through with the keyboard, and left with Escape", async () => {
    const panel = await mount();
    await panel.show([LIVE, ...fixture("fix")]);
    const items = [...panel.root.querySelectorAll<HTMLElement>("[data-item]")];
    expect(items.filter((item) => item.tabIndex === 0)).toEqual([items.at(-1)]);
    items.at(-1)!.focus();
    await panel.key(document.activeElement!, "ArrowUp");
    await panel.key(document.activeElement!, "ArrowUp");
    const edited = document.activeElement as HTMLElement;
    expect(edited.getAttribute("aria-label")).toBe(
      "Edited stats.py, 1 of 2 hunks · 3.0 s, changed stats.py",
    );
    await panel.key(edited, "Enter");
    expect(edited.querySelector(".call-details")).not.toBeNull();
    await panel.key(edited, "Escape");
    expect(document.activeElement).toBe(panel.field);
    edited.focus();
    expect(edited.tabIndex).toBe(0);
  });

  it("keeps no more items on the page than can be read, and puts earlier ones before", async () => {
    const many = Array.from({ length: 400 }, (_, index) =>
      fact(index, "user/message", { turn: index + 1, step: 1, content: `message ${index}` }),
    );
    const panel = await mount();
    await panel.show([LIVE, ...many]);
    const shown = () => panel.root.querySelectorAll("[data-item]").length;
    expect(shown()).toBe(20); // the others follow frame by frame
    await expect.poll(shown).toBe(120);
    expect(panel.root.textContent).toContain("message 399");
    await panel.click(panel.button("Show earlier messages"));
    await expect.poll(shown).toBe(180);
  });

  it("reads older turns of the session when those on the page are all", async () => {
    const panel = await mount();
    const page = (turn: number): Value[] => [
      fact(turn * 10, "turn/start", { turn }),
      fact(turn * 10 + 1, "user/message", { turn, step: 1, content: `in turn ${turn}` }),
    ];
    await panel.show([LIVE, ...page(3)], { from: 30, seq: 31 });
    await panel.click(panel.button("Show earlier messages"));
    expect(panel.calls("turnbuckle/session/read")).toEqual([{ sessionId: "s", from: 0, to: 29 }]);
    await panel.answer("turnbuckle/session/read", { events: [...page(1), ...page(2)] });
    expect(panel.calls("turnbuckle/session/read").at(-1)).toMatchObject({ from: 22 });
    await panel.answer("turnbuckle/session/read", { events: [] });
    await panel.say();
    await new Promise((drawn) => requestAnimationFrame(drawn));
    await panel.say();
    const said = [...panel.root.querySelectorAll(".user-text")].map((item) => item.textContent);
    expect(said).toEqual(["in turn 1", "in turn 2", "in turn 3"]);
    expect(() => panel.button("Show earlier messages")).toThrow();
  });

  it("stays on the screen while the same session is told anew", async () => {
    const panel = await mount();
    await panel.show([...fixture("fix"), LIVE]);
    const before = panel.root.querySelectorAll("[data-item]").length;
    await panel.say({ type: "session", session: { ...panel.store.view.session! } });
    expect(panel.root.querySelectorAll("[data-item]").length).toBe(before);
    await panel.more(...fixture("stopped").slice(1), LIVE);
    expect(panel.root.querySelector(".user-text")?.textContent).toBe("Read my notes.");
  });
});

describe("what a person said", () => {
  it("is edited and sent again with what it pointed at", async () => {
    const panel = await mount();
    await panel.show([LIVE, ...fixture("fix")]);
    await panel.click(panel.button("Edit and send again"));
    expect(panel.calls("turnbuckle/session/rewind")).toEqual([
      { sessionId: "s", turn: 1, files: "keep" },
    ]);
    await panel.answer("turnbuckle/session/rewind", { restored: [], skipped: [] });
    expect(panel.field.value).toContain("The test for an empty list fails.");
    await panel.key(panel.field, "Enter");
    expect(panel.calls("turnbuckle/turn")).toMatchObject([
      {
        context: [
          { kind: "selection", uri: "file:///work/stats.py", range: { start: { line: 6 } } },
          { kind: "file" },
        ],
      },
    ]);
  });

  it("in several messages of one turn is edited as a whole, for that is taken back as a whole", async () => {
    const panel = await mount();
    const context = [{ kind: "file" as const, uri: "file:///work/a.py" }];
    const steer = { key: "b", target: "step" as const, input: "But not b." };
    await panel.show([
      fact(0, "inbox/added", { key: "a", target: "turn", input: "Mend a.", context }),
      fact(1, "turn/start", { turn: 1 }),
      fact(2, "user/message", { ...AT, key: "a", content: "Mend a." }),
      fact(3, "inbox/added", steer),
      fact(4, "user/message", { turn: 1, step: 2, key: "b", content: "But not b." }),
      fact(5, "turn/end", { turn: 1, end: { kind: "completed" } }),
      LIVE,
    ]);
    const [, second] = panel.root.querySelectorAll(".user-card");
    await panel.click(panel.button("Edit and send again", second));
    await panel.click(panel.button("Edit and send again", second));
    expect(panel.calls("turnbuckle/session/rewind")).toHaveLength(1);
    await panel.more(fact(6, "context/rewound", { to: 0 }));
    await panel.answer("turnbuckle/session/rewind", { restored: [], skipped: [] });
    expect(panel.field.value).toBe("Mend a.\n\nBut not b.");
    expect(panel.root.querySelectorAll(".composer .chip-text")).toHaveLength(1);
    // What was taken back cannot be taken back again.
    expect(() => panel.button(/^(Edit and send|Take back|Fork before)/)).toThrow();
  });

  it("is taken back with or without the files, and what was left alone is said", async () => {
    const panel = await mount();
    await panel.show([LIVE, ...fixture("fix")]);
    await panel.click(panel.button("Take back from here…"));
    await expectAccessible();
    await panel.click(panel.button("Chat and files"));
    expect(panel.calls("turnbuckle/session/rewind")).toMatchObject([{ files: "restore" }]);
    await panel.answer("turnbuckle/session/rewind", {
      restored: [],
      skipped: [{ uri: "file:///work/a", why: "it was changed" }],
    });
    expect(panel.root.querySelector(".banner")?.textContent).toContain("it was changed");
  });

  it("is where a fork begins", async () => {
    const panel = await mount();
    await panel.show([LIVE, ...fixture("fix")]);
    await panel.click(panel.button("Fork before this message"));
    expect(panel.calls("turnbuckle/session/fork")).toEqual([{ sessionId: "s", turn: 0 }]);
    await panel.answer("turnbuckle/session/fork", { sessionId: "child" });
    expect(panel.sent.at(-1)).toEqual({ type: "show", sessionId: "child" });
  });
});
