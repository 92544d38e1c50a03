// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { dropped } from "../../src/panel/dropping";
import { expectAccessible, fact, fixture, LIVE, mount, until, type Mounted } from "./panel";

async function busy(sendKey: "enter" | "ctrlEnter" = "enter"): Promise<Mounted> {
  const panel = await mount({}, { sendKey });
  await panel.show([LIVE, ...until(fixture("fix"), "llm/stream")]);
  await panel.type("more");
  return panel;
}

const chip = (id: string, label = `${id}.py`) => ({
  id,
  kind: "file" as const,
  label,
  detail: label,
  uri: `file:///work/${label}`,
});

describe("the enter key", () => {
  it("belongs to the input method while letters are composed", async () => {
    const panel = await mount();
    await panel.show([LIVE]);
    await panel.type("にほん");
    await panel.key(panel.field, "Enter", { isComposing: true });
    await panel.key(panel.field, "Enter", { keyCode: 229 });
    expect(panel.calls("turnbuckle/turn")).toEqual([]);
    await panel.key(panel.field, "Enter");
    expect(panel.calls("turnbuckle/turn")).toHaveLength(1);
  });

  it.each([
    ["enter", {}, "queue"],
    ["enter", { ctrlKey: true }, "steer"],
    ["enter", { altKey: true }, "steer"],
    ["enter", { shiftKey: true }, undefined],
    ["ctrlEnter", {}, undefined],
    ["ctrlEnter", { ctrlKey: true }, "queue"],
    ["ctrlEnter", { altKey: true }, "steer"],
  ] as const)("set to %s with %o does %s while a turn runs", async (sendKey, keys, whenBusy) => {
    const panel = await busy(sendKey);
    await panel.key(panel.field, "Enter", keys);
    expect(panel.calls("turnbuckle/turn").map((one) => one["whenBusy"])).toEqual(
      whenBusy ? [whenBusy] : [],
    );
  });

  it("has buttons beside it that do the same", async () => {
    const panel = await busy();
    await panel.click(panel.button("Steer"));
    await panel.type("then");
    await panel.click(panel.button("Queue"));
    expect(panel.calls("turnbuckle/turn").map((one) => one["whenBusy"])).toEqual([
      "steer",
      "queue",
    ]);
  });
});

describe("a turn that runs", () => {
  it("is stopped once, and what waits stays", async () => {
    const panel = await busy();
    await panel.click(panel.button("Stop"));
    expect(panel.button("Stop").disabled).toBe(true);
    expect(panel.calls("turnbuckle/cancel")).toEqual([{ sessionId: "s", keepQueue: true }]);
  });

  it("shows what waits, which can be edited and dropped", async () => {
    const panel = await busy();
    await panel.more(fact(90, "inbox/added", { key: "w", target: "turn", input: "later" }));
    expect(panel.root.querySelector(".waiting")?.textContent).toContain("later");
    await expectAccessible();
    await panel.click(panel.button("Edit this waiting message"));
    const edit = panel.root.querySelector<HTMLTextAreaElement>(".waiting-edit")!;
    expect(document.activeElement).toBe(edit);
    await panel.type("sooner", edit);
    await panel.key(edit, "Enter", { isComposing: true });
    await panel.key(edit, "Enter");
    expect(panel.calls("turnbuckle/inbox/edit")).toEqual([
      { sessionId: "s", key: "w", input: [{ type: "text", text: "sooner" }] },
    ]);
    await panel.answer("turnbuckle/inbox/edit", { changed: true });
    expect(panel.field.value).toBe("more");
    await panel.click(panel.button("Drop this waiting message"));
    expect(panel.calls("turnbuckle/inbox/edit").at(-1)).toMatchObject({ key: "w", remove: true });
  });

  it("that was stopped keeps what waited, to be sent", async () => {
    const panel = await mount();
    await panel.show([LIVE, ...fixture("stopped")]);
    await panel.click(panel.button("Send this waiting message now"));
    await panel.answer("turnbuckle/inbox/edit", { changed: true });
    expect(panel.calls("turnbuckle/turn")).toMatchObject([
      { input: [{ text: "And then sum them up." }] },
    ]);
  });
});

describe("what is written", () => {
  it("is kept over a reload, with its chips", async () => {
    const panel = await mount();
    await panel.show([LIVE]);
    await panel.type("half a thou");
    await panel.say({ type: "chips", chips: [chip("a")] });
    const again = await mount(panel.kept);
    expect(again.field.value).toBe("half a thou");
    expect(again.root.querySelector(".composer .chip-text")?.textContent).toBe("a.py");
    expect(again.sent[0]).toMatchObject({ type: "ready", sessionId: "s" });
  });

  it("comes back when it was not taken, but not over what was written since", async () => {
    const panel = await mount();
    await panel.show([LIVE]);
    await panel.say({ type: "chips", chips: [chip("a")] });
    await panel.type("first");
    await panel.key(panel.field, "Enter");
    const { id } = panel.sent.findLast(
      (one) => one.type === "call" && one.method === "turnbuckle/turn",
    ) as { id: number };
    await panel.say({ type: "refused", id, code: -32803, message: "no room" });
    expect(panel.field.value).toBe("first");
    expect(panel.root.querySelectorAll(".composer .chip-text")).toHaveLength(1);
  });

  it("is not lost when the editor suggests something", async () => {
    const panel = await mount();
    await panel.type("mine");
    await panel.say({ type: "compose", text: "theirs", focus: true });
    expect(panel.field.value).toBe("mine\n\ntheirs");
    expect(document.activeElement).toBe(panel.field);
  });
});

describe("offers", () => {
  it("name files after @, and an answer that comes too late is not shown", async () => {
    const panel = await mount();
    await panel.show([LIVE]);
    await panel.type("look at @s");
    await panel.type("look at @st");
    const [first, second] = panel.done("findFiles") as { id: number; query: string }[];
    expect(second?.query).toBe("st");
    await panel.say({
      type: "found",
      id: second!.id,
      chips: [chip("a", "stats.py"), chip("b", "state.py")],
    });
    await panel.say({ type: "found", id: first!.id, chips: [chip("c", "wrong.py")] });
    expect([...panel.root.querySelectorAll("[role=option]")].map((one) => one.textContent)).toEqual(
      ["stats.pystats.py", "state.pystate.py"],
    );
    await expectAccessible();
    await panel.key(panel.field, "ArrowDown");
    expect(panel.field.getAttribute("aria-activedescendant")).toBe("offer-b");
    await panel.key(panel.field, "Enter");
    expect(panel.field.value).toBe("look at ");
    expect(panel.root.querySelector(".composer .chip-text")?.textContent).toBe("state.py");
    await panel.click(panel.button("Remove state.py"));
    expect(panel.root.querySelector(".composer .chip-text")).toBeNull();
  });

  it("list commands after a slash, which Escape leaves alone", async () => {
    const panel = await mount();
    await panel.show([LIVE]);
    await panel.type("/co");
    expect([...panel.root.querySelectorAll(".offer-label")].map((one) => one.textContent)).toEqual([
      "/compact",
    ]);
    await panel.key(panel.field, "Escape");
    expect(panel.root.querySelector("[role=option]")).toBeNull();
    await panel.type("/compact");
    await panel.key(panel.field, "Enter");
    expect(panel.calls("turnbuckle/session/compact")).toEqual([{ sessionId: "s" }]);
    await panel.answer("turnbuckle/session/compact", {
      outcome: "nothing",
      message: "There is room.",
      before: 1,
      after: 1,
    });
    expect(panel.root.querySelector(".banner")?.textContent).toContain("There is room.");
    await panel.type("/usr/bin is a folder");
    await panel.key(panel.field, "Enter");
    expect(panel.calls("turnbuckle/turn")).toHaveLength(1);
  });
});

describe("the model", () => {
  it("is chosen for the session, and shown as the server says", async () => {
    const panel = await mount();
    await panel.show([LIVE]);
    const models = [
      { name: "m", provider: "p", current: true, source: "key" },
      { name: "n", provider: "q", current: false, source: "key" },
      { name: "o", provider: "q", current: false, source: "key", unavailable: "no key" },
    ];
    await panel.answer("turnbuckle/models", { models });
    const select = panel.root.querySelector<HTMLSelectElement>(".model")!;
    expect([...select.options].map((one) => one.textContent)).toEqual([
      "m",
      "n",
      "o (no key)",
      "Connect a model…",
    ]);
    select.value = "n";
    select.dispatchEvent(new Event("change", { bubbles: true }));
    expect(panel.calls("turnbuckle/session/configure")).toEqual([{ sessionId: "s", model: "n" }]);
    const price = { input: 1, output: 2, currency: "nonsense" };
    await panel.answer("turnbuckle/session/configure", {
      model: "n",
      provider: "q",
      window: 100,
      price,
    });
    expect(select.value).toBe("n");
    await panel.more(
      fact(1, "assistant/message", {
        turn: 1,
        step: 1,
        content: "a",
        finish: "stop",
        usage: { input: 40, output: 50, total: 90 },
      }),
    );
    expect(panel.root.querySelector(".meter")?.textContent).toContain("90 %");
  });
});

describe("what is dropped", () => {
  it("is a list of places, of any scheme, however the editor writes it", () => {
    const data = (of: Record<string, string>) => dropped((type) => of[type] ?? "");
    expect(data({ "text/uri-list": "# x\r\nfile:///a\r\nvscode-remote://h/b\r\n" })).toEqual([
      "file:///a",
      "vscode-remote://h/b",
    ]);
    expect(data({ resourceurls: '["file:///a","file:///a",7]' })).toEqual(["file:///a"]);
    expect(data({ resourceurls: "no json" })).toEqual([]);
    expect(data({ "text/plain": "words" })).toEqual([]);
  });
});
