// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import type { Value } from "../../src/shared/messages";
import { expectAccessible, fact, fixture, LIVE, mount } from "./panel";

const AT = { turn: 1, step: 1 };

describe("hostile values", () => {
  const script = '<img src=x onerror="alert(1)"><script>alert(1)</script>[x](javascript:alert(1))';

  it("are text, wherever they stand", async () => {
    const panel = await mount();
    const values = [...fixture("fix"), ...fixture("denied")].map(
      (value) =>
        JSON.parse(JSON.stringify(value), (key, each: unknown) =>
          typeof each === "string"
          && ![
            "type",
            "kind",
            "role",
            "name",
            "state",
            "callId",
            "approvalId",
            "hunkId",
            "decision",
            "outcome",
            "source",
            "uri",
          ].includes(key)
            ? `${script}${each}`
            : each,
        ) as Value,
    );
    await panel.show([LIVE, ...values], { title: script });
    for (const summary of panel.root.querySelectorAll("summary")) await panel.click(summary);
    expect(
      panel.root.querySelectorAll("script, img, iframe, [onerror], a[href^='javascript']"),
    ).toHaveLength(0);
    await expectAccessible();
  });

  it("of shapes and types that nobody knows take nothing else down", async () => {
    const panel = await mount();
    const bad = [
      { seq: 100, time: 0, type: "from/the/future", data: { a: 1 } },
      { seq: 101, time: 0, type: "__proto__", data: {} },
      { seq: 102, time: 0, type: "constructor", data: {} },
      { seq: 103, time: 0, type: "assistant/message", data: null },
      { seq: 104, time: 0, type: "tool/call", data: { callId: 7, name: { x: 1 }, arguments: [] } },
      {
        seq: 105,
        time: 0,
        type: "approval/asked",
        data: { approvalId: "b", callId: 7, subject: null },
      },
      { seq: 106, time: 0, type: "todo/write", data: { items: "none" } },
      {
        seq: 107,
        time: 0,
        type: "assistant/chunk",
        data: { ...AT, toolCalls: [{ index: -1 }, { index: 1e9 }] },
      },
      { seq: 108, time: 0, type: "turn/end", data: { turn: 1, end: { kind: "exploded" } } },
      { type: "tool/output", data: {} },
    ] as unknown as Value[];
    await panel.show([LIVE, ...fixture("failed"), ...bad]);
    await panel.more(fact(200, "user/message", { turn: 2, step: 1, content: "still here" }));
    expect(panel.root.textContent).toContain("still here");
    expect(panel.sent.filter((one) => one.type === "ack")).toHaveLength(2);
  });

  it("in a script from the right are read from there, wherever they stand", async () => {
    const panel = await mount();
    const arabic = "أصلح الاختبار الذي يفشل";
    const subject = { kind: "question", question: arabic, choices: [arabic], reason: "" };
    await panel.show(
      [
        LIVE,
        fact(0, "inbox/added", { key: "w", target: "turn", input: arabic }),
        fact(1, "turn/start", { turn: 1 }),
        fact(2, "user/message", { ...AT, content: arabic }),
        fact(3, "todo/write", { items: [{ text: arabic, state: "open" }] }),
        fact(4, "approval/asked", {
          approvalId: "a",
          callId: "c",
          subject,
          digest: "d",
          choices: ["answer", "reject"],
        }),
      ],
      { title: arabic },
    );
    await panel.say({
      type: "chips",
      chips: [{ id: "c", kind: "file", label: arabic, detail: arabic, uri: "file:///a" }],
    });
    const shown = [...panel.root.querySelectorAll("*")].filter(
      (element) => element.childElementCount === 0 && element.textContent === arabic,
    );
    expect(shown).toHaveLength(7);
    for (const element of shown) expect(element.closest("[dir]")?.getAttribute("dir")).toBe("auto");
    for (const field of panel.root.querySelectorAll("input, textarea"))
      expect(field.getAttribute("dir")).toBe("auto");
  });

  it("that are huge are cut where nobody could read them", async () => {
    const panel = await mount();
    const huge = "x".repeat(2_000_000);
    await panel.show([
      LIVE,
      fact(1, "tool/call", {
        ...AT,
        callId: "c",
        name: "run_command",
        arguments: JSON.stringify({ command: huge }),
      }),
      fact(2, "tool/result", { ...AT, callId: "c", content: huge, isError: false }),
    ]);
    await panel.click(panel.root.querySelector("summary")!);
    expect(panel.root.textContent!.length).toBeLessThan(50_000);
    expect(panel.root.textContent).toContain("1,980,000 more characters");
  });
});
