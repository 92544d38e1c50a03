// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { busy, expectAccessible, fact, fixture, LIVE, mount, type Mounted } from "./panel";

async function writing(): Promise<Mounted> {
  const panel = await busy();
  await panel.type("more");
  return panel;
}

describe("what waits", () => {
  const context = [{ kind: "file" as const, uri: "file:///work/a.py", text: "old" }];
  const waits = (seq: number, key: string) =>
    fact(seq, "inbox/added", { key, target: "turn", input: `do ${key}`, context });
  const edit = async (panel: Mounted, text: string) => {
    await panel.click(panel.button("Edit this waiting message"));
    const field = panel.root.querySelector<HTMLTextAreaElement>(".waiting-edit")!;
    await panel.type(text, field);
    return field;
  };

  it("is shown while a turn runs, and can be edited and dropped", async () => {
    const panel = await writing();
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

  it("when a turn was stopped is kept, and can be sent", async () => {
    const panel = await mount();
    await panel.show([LIVE, ...fixture("stopped")]);
    await panel.click(panel.button("Send this waiting message now"));
    await panel.answer("turnbuckle/inbox/edit", { changed: true });
    expect(panel.calls("turnbuckle/turn")).toMatchObject([
      { input: [{ text: "And then sum them up." }] },
    ]);
  });

  it.each(["error", "blocked", "stopped", "interrupted"] as const)(
    "after a turn that ended as %s is shown, and sent with what it points at",
    async (kind) => {
      const panel = await writing();
      await panel.more(waits(90, "w"), fact(91, "turn/end", { turn: 1, end: { kind } }));
      await panel.click(panel.button("Send this waiting message now"));
      await panel.answer("turnbuckle/inbox/edit", { changed: true });
      expect(panel.calls("turnbuckle/turn")).toMatchObject([
        { input: [{ text: "do w" }], context: [{ kind: "file", uri: "file:///work/a.py" }] },
      ]);
    },
  );

  it("is not shown for the moment until it enters", async () => {
    const panel = await writing();
    await panel.more(fact(90, "turn/end", { turn: 1, end: { kind: "error" } }), waits(91, "w"));
    expect(panel.root.querySelector(".waiting")).toBeNull();
  });

  it("comes back into the field when it is sent now and not taken", async () => {
    const panel = await writing();
    await panel.more(waits(90, "w"), fact(91, "turn/end", { turn: 1, end: { kind: "error" } }));
    await panel.click(panel.button("Send this waiting message now"));
    await panel.answer("turnbuckle/inbox/edit", { changed: true });
    await panel.refuse("turnbuckle/turn");
    expect(panel.field.value).toBe("do w\n\nmore");
    expect(panel.root.querySelector(".composer .chip-text")?.textContent).toBe("a.py");
  });

  it("and was entered while it was edited does not take the edit along", async () => {
    for (const saved of [false, true]) {
      const panel = await writing();
      await panel.more(waits(90, "w"));
      const field = await edit(panel, "do something else");
      if (saved) {
        await panel.key(field, "Enter");
        await panel.answer("turnbuckle/inbox/edit", { changed: false });
      }
      const said = { turn: 1, step: 2, key: "w", content: "do w" };
      await panel.more(fact(91, "user/message", said));
      expect(panel.field.value).toBe("more\n\ndo something else");
      expect(panel.root.querySelector(".banner")?.textContent).toContain("It was sent already");
      expect(document.activeElement).toBe(panel.field);
    }
  });

  it("is still edited when its turn is about to come, and when saving was refused", async () => {
    const panel = await writing();
    await panel.more(waits(90, "w"));
    const field = await edit(panel, "do something else");
    await panel.more(fact(91, "turn/end", { turn: 1, end: { kind: "completed" } }));
    await panel.key(field, "Enter");
    await panel.refuse("turnbuckle/inbox/edit");
    expect(panel.root.querySelector<HTMLTextAreaElement>(".waiting-edit")?.value).toBe(
      "do something else",
    );
  });

  it("may be thirty messages, each with its own buttons", async () => {
    const panel = await writing();
    await panel.more(...Array.from({ length: 30 }, (_, index) => waits(90 + index, `w${index}`)));
    expect(panel.root.querySelectorAll(".waiting li")).toHaveLength(30);
    await expectAccessible();
    const last = [...panel.root.querySelectorAll(".waiting li")].at(-1)!;
    await panel.click(panel.button("Drop this waiting message", last));
    expect(panel.calls("turnbuckle/inbox/edit")).toMatchObject([{ key: "w29", remove: true }]);
  });
});
