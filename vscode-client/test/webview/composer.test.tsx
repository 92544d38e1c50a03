// @vitest-environment jsdom
import { describe, expect, it, vi } from "vitest";
import type { Kept } from "../../src/panel/api";
import { dropped } from "../../src/panel/dropping";
import { Keeper } from "../../src/panel/kept";
import { busy, expectAccessible, fact, fixture, LIVE, mount, until, type Mounted } from "./panel";

async function writing(sendKey: "enter" | "ctrlEnter" = "enter"): Promise<Mounted> {
  const panel = await busy({ sendKey });
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
    const panel = await writing(sendKey);
    await panel.key(panel.field, "Enter", keys);
    expect(panel.calls("turnbuckle/turn").map((one) => one["whenBusy"])).toEqual(
      whenBusy ? [whenBusy] : [],
    );
  });

  it("has buttons beside it that do the same", async () => {
    const panel = await writing();
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
    const panel = await writing();
    await panel.click(panel.button("Stop"));
    expect(panel.button("Stop").disabled).toBe(true);
    expect(panel.calls("turnbuckle/cancel")).toEqual([{ sessionId: "s", keepQueue: true }]);
  });

  it("that is not stopped, because that was refused, can be stopped again", async () => {
    const panel = await writing();
    await panel.click(panel.button("Stop"));
    await panel.refuse("turnbuckle/cancel");
    expect(panel.button("Stop").disabled).toBe(false);
    expect(panel.root.querySelector(".banner")?.textContent).toContain("no room");
  });

  it("in another session is not the one that was stopped here", async () => {
    const panel = await writing();
    await panel.click(panel.button("Stop"));
    await panel.show([LIVE, ...until(fixture("fix"), "llm/stream")], { sessionId: "t" });
    expect(panel.button("Stop").disabled).toBe(false);
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

  it("comes back when it was not taken, before what was written since", async () => {
    const panel = await mount();
    await panel.show([LIVE]);
    await panel.say({ type: "chips", chips: [chip("a")] });
    await panel.type("first");
    await panel.key(panel.field, "Enter");
    await panel.refuse("turnbuckle/turn");
    expect(panel.field.value).toBe("first");
    expect(panel.root.querySelectorAll(".composer .chip-text")).toHaveLength(1);
    await panel.key(panel.field, "Enter");
    await panel.type("second");
    await panel.refuse("turnbuckle/turn");
    expect(panel.field.value).toBe("first\n\nsecond");
  });

  it("stays with its session where the page was made anew and is shown another one", async () => {
    const before = await mount();
    await before.show([LIVE]);
    await before.type("to s");
    const panel = await mount(before.kept);
    await panel.show([LIVE], { sessionId: "t" });
    expect(panel.field.value).toBe("");
    await panel.show([LIVE]);
    expect(panel.field.value).toBe("to s");
  });

  it("does not come back where the log has the message already", async () => {
    const panel = await busy();
    await panel.type("wait for it");
    await panel.key(panel.field, "Enter");
    const key = String(panel.calls("turnbuckle/turn").at(-1)?.["key"]);
    const added = { key, target: "turn" as const, input: "wait for it" };
    await panel.more(fact(1_000, "inbox/added", added));
    await panel.refuse("turnbuckle/turn");
    expect(panel.field.value).toBe("");
  });

  it("goes along, and so does what comes back, where another session stands for one that is gone", async () => {
    const panel = await mount();
    await panel.show([LIVE]);
    await panel.type("sent to s");
    await panel.key(panel.field, "Enter");
    await panel.type("written since");
    const config = { model: "m", provider: "p", window: 8000 };
    const session = { sessionId: "t", seq: -1, from: 0, readOnly: false, config };
    await panel.say({ type: "session", session, instead: "s" });
    expect(panel.field.value).toBe("written since");
    await panel.refuse("turnbuckle/turn");
    expect(panel.field.value).toBe("sent to s\n\nwritten since");
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

  it("leave the caret where the name stood", async () => {
    const panel = await mount();
    await panel.show([LIVE]);
    panel.field.focus();
    panel.field.value = "look at @s and mend it";
    panel.field.setSelectionRange(10, 10);
    await panel.type(panel.field.value);
    panel.field.setSelectionRange(10, 10);
    panel.field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    const { id } = panel.done("findFiles").at(-1) as { id: number };
    await panel.say({ type: "found", id, chips: [chip("a", "stats.py")] });
    await panel.key(panel.field, "Enter");
    expect(panel.field.value).toBe("look at  and mend it");
    expect(panel.field.selectionStart).toBe(8);
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
    expect(data({ "text/uri-list": "https://example.org/a\n" })).toEqual([]);
  });

  /** An event with these data, as the page gets it. */
  async function drop(
    panel: Mounted,
    name: "drop" | "paste",
    of: Record<string, string>,
    files: File[] = [],
  ): Promise<Event> {
    const event = new Event(name, { bubbles: true, cancelable: true });
    const types = [...Object.keys(of), ...(files.length ? ["Files"] : [])];
    const data = { types, files, getData: (type: string) => of[type] ?? "" };
    Object.assign(event, { [name === "drop" ? "dataTransfer" : "clipboardData"]: data });
    panel.field.dispatchEvent(event);
    await panel.say();
    return event;
  }

  const banner = (panel: Mounted) => panel.root.querySelector(".banner")?.textContent;

  const shot = () => new File([new Uint8Array([1, 2, 3])], "shot.png", { type: "image/png" });
  const pictures = (panel: Mounted) =>
    [...panel.root.querySelectorAll<HTMLImageElement>(".composer .chip-picture")].map(
      (one) => one.src,
    );

  it("is looked at by the host where it is a place, and shown where it is a picture", async () => {
    const panel = await mount();
    await panel.show([LIVE]);
    const list = "file:///work/src\nfile:///work/plan%20b.PNG";
    await drop(panel, "drop", { "text/uri-list": list });
    expect(panel.done("drop")).toEqual([
      { do: "drop", uris: ["file:///work/src", "file:///work/plan%20b.PNG"] },
    ]);
    await drop(panel, "drop", {}, [shot()]);
    await vi.waitFor(() => expect(pictures(panel)).toHaveLength(1));
    expect(pictures(panel)).toEqual(["data:image/png;base64,AQID"]);
    await drop(panel, "drop", {}, [new File([], "a.txt", { type: "text/plain" })]);
    expect(banner(panel)).toContain("Hold Shift");
    expect(panel.done("drop")).toHaveLength(1);
    await expectAccessible();
  });

  it("is kept only as far as there is room for pictures, the latest first", () => {
    const kept = { state: {} as Kept };
    const keeper = new Keeper({
      postMessage: () => undefined,
      getState: () => kept.state,
      setState: (state) => {
        kept.state = state;
      },
    });
    const picture = (size: number) => ({
      ...chip("p"),
      kind: "image" as const,
      data: "A".repeat(size),
    });
    for (const id of ["a", "b", "c"])
      keeper.putBack(id, { draft: `to ${id}`, chips: [chip("x"), picture(400 * 1024)] });
    const counts = Object.entries(kept.state.drafts ?? {}).map(([id, one]) => [
      id,
      one.chips.length,
    ]);
    expect(counts).toEqual([
      ["a", 1],
      ["b", 2],
      ["c", 2],
    ]);
    keeper.keep({ chips: [picture(2 * 1024 * 1024), chip("y")] });
    expect(kept.state.chips?.map((one) => one.id)).toEqual(["y"]);
  });

  it("is sent where it is a picture, kept over a reload, and sent again by its digest", async () => {
    const panel = await mount();
    await panel.show([LIVE]);
    await drop(panel, "paste", {}, [shot()]);
    await vi.waitFor(() => expect(pictures(panel)).toHaveLength(1));
    expect((await mount(panel.kept)).root.querySelectorAll(".composer .chip-picture").length).toBe(
      1,
    );
    const again = await mount(panel.kept);
    await again.show([LIVE]);
    await again.type("what is it?");
    await again.key(again.field, "Enter");
    const [sent] = again.calls("turnbuckle/turn");
    expect(sent).toMatchObject({
      input: [
        { type: "text", text: "what is it?" },
        { type: "image", mimeType: "image/png", data: "AQID" },
      ],
      context: [],
    });
    const image = { digest: "d1", mimeType: "image/png", size: 3 };
    const key = String(sent?.["key"]);
    const context = [{ kind: "image" as const, image }];
    await again.more(
      fact(0, "inbox/added", { key, target: "turn", input: "what is it?", context }),
      fact(1, "turn/start", { turn: 1 }),
      fact(2, "user/message", { turn: 1, step: 1, key, content: "what is it?" }),
      fact(3, "turn/end", { turn: 1, end: { kind: "completed" } }),
    );
    expect(again.root.querySelector(".user-card .chip-text")?.textContent).toBe("picture");
    await again.click(again.button("Edit and send again"));
    await again.answer("turnbuckle/session/rewind", { skipped: [] });
    await again.key(again.field, "Enter");
    expect(again.calls("turnbuckle/turn").at(-1)?.["input"]).toEqual([
      { type: "text", text: "what is it?" },
      { type: "image", digest: "d1" },
    ]);
  });

  it("goes into the field where it is words, also with a picture of them", async () => {
    const panel = await mount();
    await panel.show([LIVE]);
    const words = { "text/plain": "words" };
    expect((await drop(panel, "drop", words)).defaultPrevented).toBe(false);
    expect((await drop(panel, "paste", words, [shot()])).defaultPrevented).toBe(false);
    expect(pictures(panel)).toEqual([]);
    expect(banner(panel)).toBeUndefined();
  });
});
