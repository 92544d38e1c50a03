// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { expectAccessible, fact, LIVE, mount } from "./panel";

const AT = { turn: 1, step: 1 };

function answer(content: string) {
  return [
    fact(2, "assistant/chunk", { ...AT, text: content }),
    fact(3, "assistant/message", { ...AT, content, finish: "stop", toolCalls: [] }),
    fact(4, "turn/end", { turn: 1, end: { kind: "completed" } }),
  ] as const;
}

describe("one block without an end", () => {
  const table = `| a | b |\n|---|---|\n${"| **one** | two |\n".repeat(1_500)}`;

  it("is shown as it was written, whole, and formatted once one asks", async () => {
    const panel = await mount();
    const [chunk, message, end] = answer(table);
    await panel.show([LIVE, fact(1, "turn/start", { turn: 1 }), chunk]);
    expect(panel.root.querySelector(".plain")?.textContent).toBe(table);
    expect(panel.root.textContent).not.toContain("Format this long text");
    await panel.more(message, end);
    expect(panel.root.querySelector(".plain")?.textContent).toBe(table);
    await expectAccessible();
    const format = [...panel.root.querySelectorAll("button")].find(
      (one) => one.textContent === "Format this long text",
    );
    await panel.click(format!);
    expect(panel.root.querySelector(".plain")).toBeNull();
    expect(panel.root.querySelectorAll("tbody tr")).toHaveLength(1_500);
  });

  it("that is of usual length is formatted when it is finished", async () => {
    const panel = await mount();
    const words = "a **word** ".repeat(1_000);
    const [chunk, message, end] = answer(words);
    await panel.show([LIVE, fact(1, "turn/start", { turn: 1 }), chunk]);
    expect(panel.root.querySelector(".plain")).not.toBeNull();
    await panel.more(message, end);
    expect(panel.root.querySelector(".plain")).toBeNull();
    expect(panel.root.querySelectorAll("strong")).toHaveLength(1_000);
  });

  it("lays out only its last part anew while it grows", async () => {
    const panel = await mount();
    const lines = "words and words\n".repeat(600);
    await panel.show([
      LIVE,
      fact(1, "turn/start", { turn: 1 }),
      fact(2, "assistant/chunk", { ...AT, text: lines }),
    ]);
    const before = [...panel.root.querySelectorAll(".part")];
    expect(before.length).toBe(10);
    await panel.more(fact(3, "assistant/chunk", { ...AT, text: "more" }));
    const after = [...panel.root.querySelectorAll(".part")];
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.at(-1)?.textContent).toBe("more");
  });
});
