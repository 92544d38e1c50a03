// @vitest-environment jsdom
// The keyboard alone: where it goes, what a key belongs to, and that it is never lost.
import { describe, expect, it } from "vitest";
import type { Value } from "../../src/shared/messages";
import { expectAccessible, fact, fixture, LIVE, mount, until, type Mounted } from "./panel";

const here = (): HTMLElement => document.activeElement as HTMLElement;
const search = (panel: Mounted) => panel.root.querySelector<HTMLInputElement>(".search")!;
const waits = (seq: number, key: string): Value =>
  fact(seq, "inbox/added", { key, target: "turn", input: key });

async function asked(name: "fix" | "denied", nth: number, session = {}): Promise<Mounted> {
  const panel = await mount();
  await panel.show([...until(fixture(name), "approval/asked", nth), LIVE], session);
  await expect.poll(() => panel.root.querySelector(".approval.early")).toBeNull();
  return panel;
}

async function listed(count: number): Promise<Mounted> {
  const panel = await mount();
  await panel.show([LIVE]);
  await panel.click(panel.button("Sessions"));
  await expect.poll(() => panel.calls("turnbuckle/session/list")).toHaveLength(1);
  const sessions = Array.from({ length: count }, (_, index) => ({
    sessionId: `s${index}`,
    title: `Title ${index}`,
    updated: index,
    turns: 1,
  }));
  await panel.answer("turnbuckle/session/list", { sessions, cursor: "more" });
  return panel;
}

async function queue(...keys: string[]): Promise<Mounted> {
  const panel = await mount();
  await panel.show([LIVE, ...until(fixture("fix"), "llm/stream")]);
  await panel.more(...keys.map((key, index) => waits(90 + index, key)));
  return panel;
}

/** What is heard of the keys outside of the panel. */
async function heard(keys: () => Promise<unknown>): Promise<string[]> {
  const all: string[] = [];
  const listen = (event: KeyboardEvent): void => void all.push(event.key);
  window.addEventListener("keydown", listen);
  await keys();
  window.removeEventListener("keydown", listen);
  return all;
}

describe("Escape", () => {
  it("stops the turn where nothing is left to close, once, and is the editor's otherwise", async () => {
    const panel = await asked("fix", 1);
    await panel.click(panel.button("More"));
    expect(await heard(() => panel.key(here(), "Escape"))).toEqual([]);
    expect(here()).toBe(panel.button("More"));
    await panel.click(panel.button("Reject…"));
    expect(await heard(() => panel.key(here(), "Escape"))).toEqual([]);
    expect(here()).toBe(panel.root.querySelector(".approval"));
    expect(await heard(() => panel.key(here(), "Escape"))).toEqual([]);
    expect(here()).toBe(panel.field);
    expect(panel.calls("turnbuckle/cancel")).toEqual([]);
    await panel.key(panel.field, "Escape", { isComposing: true });
    expect(panel.calls("turnbuckle/cancel")).toEqual([]);
    expect(await heard(() => panel.key(here(), "Escape"))).toEqual([]);
    await panel.key(panel.field, "Escape");
    expect(panel.calls("turnbuckle/cancel")).toEqual([{ sessionId: "s", keepQueue: true }]);
    expect(panel.root.querySelector(".state-line")?.textContent).toContain("Stopping…");
    await panel.more(fact(900, "turn/end", { turn: 1, end: { kind: "aborted", cause: "user" } }));
    expect(await heard(() => panel.key(here(), "Escape"))).toEqual(["Escape"]);
  });

  it("leaves a list for the field where one writes, and nothing else", async () => {
    const panel = await listed(1);
    expect(await heard(() => panel.key(search(panel), "Escape"))).toEqual([]);
    expect(here()).toBe(panel.field);
    await panel.click(panel.button("More"));
    await panel.click(panel.button("Allowed in this session…"));
    expect(here().getAttribute("aria-label")).toBe("Allowed in this session");
    expect(await heard(() => panel.key(here(), "Escape"))).toEqual([]);
    expect(here()).toBe(panel.field);
  });

  it("leaves a waiting message as it was, and nothing else", async () => {
    const panel = await queue("later");
    await panel.click(panel.button("Edit this waiting message"));
    expect(await heard(() => panel.key(here(), "Escape"))).toEqual([]);
    expect(here()).toBe(panel.field);
    expect(panel.calls("turnbuckle/inbox/edit")).toEqual([]);
    expect(panel.calls("turnbuckle/cancel")).toEqual([]);
  });
});

describe("while letters are composed", () => {
  const COMPOSING = [{ isComposing: true }, { keyCode: 229 }] as const;
  const fields: Record<string, () => Promise<[Mounted, HTMLElement]>> = {
    "the message": async () => {
      const panel = await mount();
      await panel.show([LIVE]);
      return [panel, panel.field];
    },
    "the search": async () => {
      const panel = await listed(2);
      return [panel, search(panel)];
    },
    "a note": async () => {
      const panel = await asked("fix", 1);
      await panel.click(panel.button("Reject…"));
      return [panel, panel.root.querySelector<HTMLElement>(".note input")!];
    },
    "an answer": async () => {
      const panel = await asked("denied", 2);
      return [panel, panel.root.querySelector<HTMLElement>(".approval input")!];
    },
    "a waiting message": async () => {
      const panel = await queue("later");
      await panel.click(panel.button("Edit this waiting message"));
      return [panel, panel.root.querySelector<HTMLElement>(".waiting-edit")!];
    },
  };

  it.each(Object.entries(fields))("Enter, Escape and the arrows are not %s's", async (_, open) => {
    const [panel, field] = await open();
    field.focus();
    await panel.type("にほん", field as HTMLInputElement);
    const sent = panel.sent.length;
    for (const init of COMPOSING)
      for (const key of ["Enter", "Escape", "ArrowDown", "ArrowUp"]) {
        const event = await panel.key(field, key, init);
        expect(event.defaultPrevented).toBe(false);
      }
    expect(here()).toBe(field);
    expect((field as HTMLInputElement).value).toBe("にほん");
    expect(panel.sent.slice(sent).filter((one) => one.type === "call")).toEqual([]);
  });
});

describe("the list of sessions", () => {
  it("is gone through with arrows, and what is opened is written in at once", async () => {
    const panel = await listed(3);
    await panel.key(search(panel), "ArrowDown");
    expect(here().textContent).toContain("Title 0");
    await panel.key(here(), "ArrowDown");
    expect(here().textContent).toContain("Title 1");
    await panel.key(here(), "End");
    expect(here().textContent).toContain("Title 2");
    await panel.click(here());
    expect(panel.sent.at(-1)).toEqual({ type: "show", sessionId: "s2" });
    await panel.show([LIVE], { sessionId: "s2" });
    expect(here()).toBe(panel.field);
  });

  it("asks before it deletes, with no button under the key that was pressed", async () => {
    const panel = await listed(2);
    const bin = panel.button("Delete Title 0");
    bin.focus();
    await panel.click(bin);
    expect(here().getAttribute("aria-label")).toBe("Delete Title 0?");
    await expectAccessible();
    expect(await heard(() => panel.key(here(), "Escape"))).toEqual([]);
    expect(here().textContent).toContain("Title 0");
    await panel.click(panel.button("Delete Title 0"));
    await panel.click(panel.button("Keep"));
    expect(here().textContent).toContain("Title 0");
    expect(panel.calls("turnbuckle/session/delete")).toEqual([]);
  });

  it("keeps the keyboard where more is shown", async () => {
    const panel = await listed(2);
    panel.button("Show more").focus();
    await panel.click(panel.button("Show more"));
    const sessions = [{ sessionId: "z", title: "Last", updated: 0, turns: 1 }];
    await panel.answer("turnbuckle/session/list", { sessions });
    expect(here().className).toBe("session-open");
    expect(here().textContent).toContain("Title 1");
    await panel.key(here(), "ArrowDown");
    expect(here().textContent).toContain("Last");
  });
});

describe("the keyboard is not lost", () => {
  it("when one hunk of several is decided: it is at the next one, with no button under it", async () => {
    const panel = await asked("fix", 2);
    const [first, second] = panel.root.querySelectorAll<HTMLElement>(".hunk-actions");
    panel.button("Accept", first).focus();
    await panel.click(here());
    expect(here()).toBe(second);
    panel.button("Accept", second).focus();
    await panel.click(here());
    expect(here()).toBe(panel.root.querySelector(".approval"));
  });

  it("when waiting messages are dropped: it is at the next one, at last where one writes", async () => {
    const panel = await queue("a", "b");
    for (const [index, key] of ["a", "b"].entries()) {
      if (index === 0) panel.button("Drop this waiting message").focus();
      await panel.click(here());
      expect(panel.calls("turnbuckle/inbox/edit").at(-1)).toMatchObject({ key, remove: true });
      await panel.more(fact(95 + index, "inbox/dropped", { keys: [key], why: "person" }));
    }
    expect(here()).toBe(panel.field);
  });

  it("when a turn is stopped, or something was read and dismissed", async () => {
    const panel = await queue();
    panel.button("Stop").focus();
    await panel.click(here());
    expect(here()).toBe(panel.field);
    await panel.say({ type: "refused", id: -1, code: 0, message: "no" });
    panel.button("Dismiss").focus();
    await panel.click(here());
    expect(here()).toBe(panel.field);
  });

  it("when a message is taken back, or that is thought better of", async () => {
    const panel = await mount();
    await panel.show([LIVE, ...fixture("fix")]);
    for (const answer of ["Cancel", "Chat only"]) {
      await panel.click(panel.button("Take back from here…"));
      panel.button(answer).focus();
      await panel.click(here());
      expect(here().dataset["item"]).toMatch(/^user-/);
    }
  });

  it("when a turn is resumed", async () => {
    const panel = await mount();
    await panel.show([LIVE, ...fixture("stopped")]);
    panel.button("Resume").focus();
    await panel.click(here());
    expect(here().dataset["item"]).toMatch(/^end-/);
  });

  it("when a list is closed, or a new session begun", async () => {
    const panel = await listed(1);
    await panel.click(panel.button("Back to the chat"));
    expect(here()).toBe(panel.field);
    panel.button("New session").focus();
    await panel.click(here());
    expect(here()).toBe(panel.field);
  });

  it("by what is drawn anew while one writes elsewhere", async () => {
    const panel = await queue("a");
    await panel.click(panel.button("Edit this waiting message"));
    panel.field.focus();
    await panel.more(waits(95, "b"));
    expect(here()).toBe(panel.field);
  });
});

describe("what the editor sends", () => {
  it("is seen, whatever list is open", async () => {
    const panel = await listed(1);
    const chip = {
      id: "c",
      kind: "file" as const,
      label: "a.py",
      detail: "a.py",
      uri: "file:///a",
    };
    await panel.say({ type: "chips", chips: [chip] });
    expect(panel.root.querySelector(".composer .chip-text")?.textContent).toBe("a.py");
    await panel.click(panel.button("Sessions"));
    await panel.say({ type: "compose", text: "why?", focus: true });
    expect(panel.field.value).toBe("why?");
    expect(here()).toBe(panel.field);
    await panel.click(panel.button("Sessions"));
    await panel.say({ type: "focus" });
    expect(here()).toBe(panel.field);
  });
});

describe("Escape", () => {
  it("leaves a page, or the list of models, and stops no turn there", async () => {
    const panel = await mount();
    await panel.show([LIVE, ...until(fixture("fix"), "llm/stream")]);
    await panel.click(panel.button("Sessions"));
    panel.button("Back to the chat").focus();
    await panel.key(here(), "Escape");
    expect(here()).toBe(panel.field);
    const select = panel.root.querySelector<HTMLSelectElement>(".model")!;
    select.focus();
    await panel.key(select, "Escape");
    expect(here()).toBe(panel.field);
    expect(panel.calls("turnbuckle/cancel")).toEqual([]);
    await panel.key(panel.field, "Escape");
    expect(panel.calls("turnbuckle/cancel")).toHaveLength(1);
  });
});
