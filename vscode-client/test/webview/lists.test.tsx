// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { busy, expectAccessible, fact, LIVE, mount } from "./panel";

describe("lists", () => {
  const sessions = [
    { sessionId: "a", title: "One", updated: 1, turns: 1 },
    {
      sessionId: "s",
      title: "Two <b>",
      updated: 2,
      turns: 2,
      match: "…found…",
      damaged: true,
      parent: "a",
    },
  ];

  it("sessions are searched, shown with what they do, opened and deleted", async () => {
    const panel = await mount();
    await panel.show([LIVE]);
    await panel.say({ type: "sessions", sessions: [{ sessionId: "a", state: "waiting" }] });
    await panel.click(panel.button("Sessions"));
    await expect.poll(() => panel.calls("turnbuckle/session/list")).toHaveLength(1);
    await panel.answer("turnbuckle/session/list", { sessions });
    expect(panel.root.textContent).toContain("waits for you");
    expect(document.activeElement).toBe(panel.root.querySelector(".search"));
    await expectAccessible();
    await panel.click(panel.button("Delete One"));
    await panel.click(panel.button("Delete"));
    expect(panel.calls("turnbuckle/session/delete")).toEqual([{ sessionId: "a" }]);
    await panel.answer("turnbuckle/session/delete", {});
    expect(panel.root.querySelectorAll(".session")).toHaveLength(1);
    await panel.type("word", panel.root.querySelector<HTMLInputElement>(".search")!);
    await expect
      .poll(() => panel.calls("turnbuckle/session/list").at(-1))
      .toMatchObject({ query: "word" });
    await panel.key(panel.root.querySelector(".search")!, "Escape");
    expect(panel.root.querySelector(".composer")).not.toBeNull();
  });

  it("sessions may be five hundred, and their list may not come at first", async () => {
    const panel = await mount();
    await panel.show([LIVE]);
    await panel.click(panel.button("Sessions"));
    await expect.poll(() => panel.calls("turnbuckle/session/list")).toHaveLength(1);
    await panel.refuse("turnbuckle/session/list");
    expect(panel.root.textContent).toContain("The list did not come.");
    expect(panel.root.textContent).not.toContain("Looking…");
    await panel.click(panel.button("Look again"));
    const many = Array.from({ length: 500 }, (_, index) => ({
      sessionId: `s${index}`,
      title: index ? `Title ${index}` : "أصلح الاختبار",
      updated: index,
      turns: index,
    }));
    await panel.answer("turnbuckle/session/list", { sessions: many });
    expect(panel.root.querySelectorAll(".session")).toHaveLength(500);
    // Cut off at its own end, not at its beginning.
    expect(panel.root.querySelector(".session-title")?.getAttribute("dir")).toBe("auto");
  });

  it("what is allowed is not asked for with each word that streams", async () => {
    const panel = await busy();
    await panel.click(panel.button("More"));
    await panel.click(panel.button("Allowed in this session…"));
    const chunk = (seq: number) =>
      fact(seq, "assistant/chunk", { turn: 1, step: 1, text: "more " });
    for (let seq = 100; seq < 120; seq++) await panel.more(chunk(seq));
    expect(panel.calls("turnbuckle/grants")).toHaveLength(1);
  });

  it("what is allowed for the session is seen and taken back", async () => {
    const panel = await mount();
    await panel.show([LIVE]);
    await panel.click(panel.button("More"));
    expect(document.activeElement?.textContent).toBe("Open as Markdown");
    await panel.key(document.activeElement!, "ArrowUp");
    expect(document.activeElement?.textContent).toBe("Delete…");
    await expectAccessible();
    await panel.click(panel.button("Allowed in this session…"));
    const subject = { kind: "command", command: "pytest", cwd: "file:///work" };
    await panel.answer("turnbuckle/grants", { grants: [{ grantId: "g", subject, since: 1 }] });
    expect(panel.root.querySelector(".grant-what")?.textContent).toBe("Run pytest");
    await expectAccessible();
    await panel.click(panel.button("Ask again"));
    expect(panel.calls("turnbuckle/grants/revoke")).toEqual([{ sessionId: "s", grantId: "g" }]);
    await panel.answer("turnbuckle/grants/revoke", { revoked: true });
    expect(panel.root.textContent).toContain("you are asked before each");
  });
});
