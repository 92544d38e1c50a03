// @vitest-environment jsdom
// What went wrong in other chat panels comes out right in this one; each is named by its id.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { render } from "../../src/panel/markdown";
import type { Value } from "../../src/shared/messages";
import { fact, fixture, LIVE, mount, until, type Mounted } from "./panel";

const DATA = join(__dirname, "../../../tests/data/cases");

function load(id: string): { rows: unknown[]; forbid: string[] } {
  return JSON.parse(readFileSync(join(DATA, `${id}.json`), "utf8")) as never;
}

const AT = { turn: 1, step: 1 };

function answer(text: string): Value[] {
  return [
    fact(0, "turn/start", { turn: 1 }),
    fact(1, "assistant/message", { ...AT, content: text, finish: "stop", toolCalls: [] }),
    LIVE,
  ];
}

describe("an answer", () => {
  it("I01 brings no script, no handler and no link that runs something", () => {
    const { rows, forbid } = load("I01");
    for (const row of rows as string[]) {
      const page = document.createElement("div");
      page.innerHTML = render(row, true);
      for (const element of page.querySelectorAll("*")) {
        expect(forbid).not.toContain(`<${element.tagName.toLowerCase()}`);
        for (const { name, value } of element.attributes) {
          expect(name.startsWith("on")).toBe(false);
          for (const bad of forbid) expect(value.toLowerCase().startsWith(bad)).toBe(false);
        }
      }
    }
  });

  it("I02 fetches nothing by itself, and the page may not", () => {
    const { rows, forbid } = load("I02");
    for (const row of rows as string[]) {
      const html = render(row, true);
      for (const bad of forbid) expect(html).not.toContain(bad);
      const page = document.createElement("div");
      page.innerHTML = html;
      expect(page.querySelector("img, [src], [style], link, object, video")).toBeNull();
    }
    const host = readFileSync(join(__dirname, "../../src/host/panel/html.ts"), "utf8");
    const allowed = /img-src ([^;]*)/.exec(host)?.[1] ?? "";
    expect(allowed).not.toMatch(/https?:|\*/);
    expect(host).toMatch(/default-src 'none'/);
  });

  it("I13 reads in its own direction, its code from the left, and is copied as it was written", async () => {
    const panel = await mount();
    const rows = load("I13").rows as string[];
    const text = rows.map((row) => `שלום עולם\n\n\`\`\`\n${row}\n\`\`\`\n`).join("\n");
    await panel.show(answer(text));
    for (const paragraph of panel.root.querySelectorAll(".markdown p"))
      expect(paragraph.getAttribute("dir")).toBe("auto");
    const codes = [...panel.root.querySelectorAll(".markdown pre")];
    expect(codes).toHaveLength(rows.length);
    for (const code of codes) expect(code.getAttribute("dir")).toBe("ltr");
    const copies = [...panel.root.querySelectorAll<HTMLElement>('.code-tools [title="Copy"]')];
    for (const copy of copies) await panel.click(copy);
    expect(panel.done("copy").map((action) => (action as { text: string }).text)).toEqual(rows);
  });
});

describe("the composer", () => {
  it("I06 sends on Enter, but not while letters are composed", async () => {
    for (const [keys, expected] of load("I06").rows as [KeyboardEventInit, string][]) {
      const panel = await mount();
      await panel.show([LIVE]);
      await panel.type("にほん");
      const event = await panel.key(panel.field, "Enter", keys);
      expect(panel.calls("turnbuckle/turn")).toHaveLength(expected === "send" ? 1 : 0);
      // A new line is what the field does with a key that nobody takes.
      expect(event.defaultPrevented).toBe(expected === "send");
      await panel.key(panel.field, "Enter");
      expect(panel.calls("turnbuckle/turn")).toHaveLength(1);
    }
  });

  it("I07 keeps what is written over a reload", async () => {
    const panel = await mount();
    await panel.show([LIVE]);
    await panel.type("half a thou");
    const again = await mount(panel.kept);
    await again.show([LIVE]);
    expect(again.field.value).toBe("half a thou");
  });

  it("I08 keeps what is written for the session that it was written in", async () => {
    const panel = await mount();
    await panel.show([LIVE], { sessionId: "a" });
    await panel.type("for a");
    await panel.show([LIVE], { sessionId: "b" });
    expect(panel.field.value).toBe("");
    await panel.type("for b");
    await panel.show([LIVE], { sessionId: "a" });
    expect(panel.field.value).toBe("for a");
    await panel.key(panel.field, "Enter");
    expect(panel.calls("turnbuckle/turn")).toMatchObject([{ sessionId: "a" }]);
    expect(panel.field.value).toBe("");
    const again = await mount(panel.kept);
    await again.show([LIVE], { sessionId: "a" });
    await again.show([LIVE], { sessionId: "b" });
    expect(again.field.value).toBe("for b");
  });

  it("I08 gives a message that was not taken back to its own session", async () => {
    const panel = await mount();
    await panel.show([LIVE], { sessionId: "a" });
    await panel.type("for a");
    await panel.key(panel.field, "Enter");
    const sent = panel.sent.findLast((one) => one.type === "call") as { id: number };
    await panel.show([LIVE], { sessionId: "b" });
    await panel.say({ type: "refused", id: sent.id, code: -32803, message: "no room" });
    expect(panel.field.value).toBe("");
    await panel.show([LIVE], { sessionId: "a" });
    expect(panel.field.value).toBe("for a");
  });
});

describe("the transcript", () => {
  /** A frame of 200 pixels that shows 1,000, which a page that is not drawn does not have. */
  function measured(panel: Mounted): HTMLElement {
    const frame = panel.root.querySelector<HTMLElement>(".transcript")!;
    Object.defineProperties(frame, {
      scrollHeight: { value: 1_000, configurable: true },
      clientHeight: { value: 200, configurable: true },
    });
    return frame;
  }

  async function scroll(panel: Mounted, frame: HTMLElement, to: number): Promise<void> {
    frame.scrollTop = to;
    frame.dispatchEvent(new Event("scroll"));
    await panel.say();
  }

  const chunk = (seq: number): Value => fact(seq, "assistant/chunk", { ...AT, text: "more " });

  it("I09 stays where the person reads, says what is new, and follows its end otherwise", async () => {
    const panel = await mount();
    await panel.show([fact(0, "turn/start", { turn: 1 }), chunk(1), LIVE]);
    const frame = measured(panel);
    await scroll(panel, frame, 800);
    await panel.more(chunk(2));
    expect(frame.scrollTop).toBe(1_000); // as far as it goes
    await scroll(panel, frame, 800);
    await scroll(panel, frame, 300);
    await panel.more(chunk(3), chunk(4));
    expect(frame.scrollTop).toBe(300);
    await panel.click(panel.button("New below: jump to the latest"));
    expect(frame.scrollTop).toBe(1_000);
  });

  it("I11 shows a call as running once its question was answered, and asks no more", async () => {
    const panel = await mount();
    const values = fixture("fix");
    const asked = until(values, "approval/asked");
    const decided = until(values, "approval/decided");
    await panel.show([LIVE, ...asked]);
    expect(panel.root.querySelector(".approval")).not.toBeNull();
    await panel.more(...decided.slice(asked.length));
    expect(panel.root.querySelector(".approval")).toBeNull();
    expect(() => panel.button("Allow once")).toThrow();
  });
});
