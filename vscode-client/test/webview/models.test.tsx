// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { expectAccessible, fact, LIVE, mount } from "./panel";

/** A panel that can choose between models, of which the first answers now. */
async function choosing(...names: string[]) {
  const panel = await mount();
  await panel.show([LIVE]);
  const models = names.map((name) => ({ name, provider: "p", current: false, source: "key" }));
  await panel.answer("turnbuckle/models", { models });
  return { panel, select: panel.root.querySelector<HTMLSelectElement>(".model")! };
}

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

  it("that arrow keys only pass by is not chosen; Enter and leaving choose", async () => {
    const { panel, select } = await choosing("m", "n", "o");
    // As the page does it: what a key changes is told before anything else happens.
    const arrow = (to: number): void => {
      select.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
      select.selectedIndex = to;
      select.dispatchEvent(new Event("change", { bubbles: true }));
    };
    const chosen = () => panel.calls("turnbuckle/session/configure").map((one) => one["model"]);
    select.focus();
    for (const to of [1, 2, 3]) arrow(to);
    expect(panel.done("connect")).toEqual([]);
    panel.field.focus();
    expect(select.value).toBe("m");
    expect(chosen()).toEqual([]);
    select.focus();
    arrow(2);
    await panel.key(select, "Enter");
    expect(chosen()).toEqual(["o"]);
    await panel.answer("turnbuckle/session/configure", { model: "o", provider: "p" });
    arrow(1);
    panel.field.focus();
    expect(chosen()).toEqual(["o", "n"]);
  });

  it("that is refused is not shown as if it answered", async () => {
    const { panel, select } = await choosing("m", "n");
    select.value = "n";
    select.dispatchEvent(new Event("change", { bubbles: true }));
    await panel.refuse("turnbuckle/session/configure");
    expect(select.value).toBe("m");
    expect(panel.root.querySelector(".banner")?.textContent).toContain("no room");
  });

  it("can be one of three hundred, or of none", async () => {
    const panel = await mount();
    await panel.show([LIVE]);
    const options = () => [...panel.root.querySelectorAll(".model option")].length;
    await panel.answer("turnbuckle/models", { models: [] });
    expect(options()).toBe(2); // the one that answers, and a way to another
    await expectAccessible();
    const models = Array.from({ length: 300 }, (_, index) => ({
      name: index ? `m${index}` : "m",
      provider: `p${index % 7}`,
      current: false,
      source: "listed",
    }));
    panel.root.querySelector<HTMLElement>(".model")!.focus(); // it asks again
    await panel.answer("turnbuckle/models", { models });
    expect(options()).toBe(301);
    await expectAccessible();
  });

  it("whose window and price nobody knows has a meter of tokens alone", async () => {
    const panel = await mount();
    await panel.show([LIVE], { config: { model: "m", provider: "p" } });
    const usage = { input: 1200, output: 34, total: 1234 };
    const said = { turn: 1, step: 1, content: "a", finish: "stop" as const, usage };
    await panel.more(fact(1, "assistant/message", said));
    const meter = panel.root.querySelector(".meter")!;
    expect(meter.textContent).toBe("1.2k tokens");
    expect(meter.getAttribute("aria-label")).toBe(
      "1,234 tokens in the context; 1,234 in the session",
    );
  });
});
