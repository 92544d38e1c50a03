// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { expectAccessible, LIVE, mount } from "./panel";

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
