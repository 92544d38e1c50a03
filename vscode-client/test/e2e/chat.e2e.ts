import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { calls, gate, holds, results, says } from "./model";
import { kept, Workbench, type Panel } from "./workbench";

let vs: Workbench;
let panel: Panel;

beforeAll(async () => {
  vs = await Workbench.start();
  vs.write("stats.py", "def mean(items):\n    return sum(items) / len(items)\n");
  await vs.open();
}, 120_000);

afterAll(async () => vs?.stop(), 30_000);

beforeEach(async (context) => {
  kept(context, vs);
  panel = await vs.showChat();
  await panel.button("New session").click();
  await panel.text("Ask, review, accept").waitFor();
});

describe("the chat", () => {
  it("opens, streams, and is stopped", async () => {
    vs.model.play(holds("I look at **it** now.", gate().opened));
    await panel.send("Fix the average");
    await panel.text("I look at").waitFor();
    await panel.button("Stop").click();
    await panel.text("Stopped by you").waitFor();
    expect(vs.model.requests.length).toBe(1);
  });

  it("queues the next message and steers the running turn", async () => {
    const first = gate();
    vs.model.play(
      async (reply) => {
        reply.say("Looking.");
        await first.opened;
        calls("", ["list_files", { pattern: "*.py" }])(reply) as void;
      },
      says("I used tabs."),
      says("And now the second."),
    );
    await panel.send("First");
    await panel.text("Looking.").waitFor();
    await panel.send("Second");
    await panel.send("Use tabs", "Alt+Enter");
    const waiting = panel.frame.getByRole("list", { name: "Messages that wait" }).locator("li");
    await expect.poll(() => waiting.count()).toBe(2);
    await vs.picture("queue");
    first.open();
    await panel.text("And now the second.").waitFor();
    const steered = await vs.model.request(2);
    expect(JSON.stringify(steered.messages)).toContain("Use tabs");
    expect(JSON.stringify(steered.messages)).not.toContain("Second");
    expect(await waiting.count()).toBe(0);
  });

  it("drops a message that waits", async () => {
    const held = gate();
    vs.model.play(holds("Busy.", held.opened), says("never"));
    await panel.send("First");
    await panel.text("Busy.").waitFor();
    await panel.send("Not after all");
    await panel.button("Drop this waiting message").click();
    await expect.poll(() => panel.button("Drop this waiting message").count()).toBe(0);
    held.open();
    await expect.poll(() => panel.button("Stop").count()).toBe(0);
    expect(vs.model.requests.length).toBe(1);
  });
});

describe("a picture", () => {
  it("that is pasted is shown to the model, drawn smaller where it is large", async () => {
    vs.model.play(says("Noise."), says("Still noise."));
    await panel.composer.evaluate(async (field) => {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [2000, 1000];
      const context = canvas.getContext("2d")!;
      const noise = context.createImageData(canvas.width, canvas.height);
      noise.data.forEach((_, at) => (noise.data[at] = at % 4 === 3 ? 255 : Math.random() * 256));
      context.putImageData(noise, 0, 0);
      const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done));
      const clipboardData = new DataTransfer();
      clipboardData.items.add(new File([blob!], "noise.png", { type: "image/png" }));
      const event = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
      field.dispatchEvent(event);
    });
    await panel.frame.locator(".chip-picture").waitFor();
    await vs.picture("pasted");
    await panel.send("What is this?");
    await panel.text("Noise.").waitFor();
    await panel.frame.locator(".user-card").getByText("picture").waitFor();
    const { messages } = await vs.model.request(1);
    const parts = messages.at(-1)?.content as { image_url?: { url: string } }[];
    const url = parts.find((part) => part.image_url)?.image_url?.url ?? "";
    expect(url.split(",")[0]).toBe("data:image/jpeg;base64");
    const size = await panel.composer.evaluate(async (_, src) => {
      const image = new Image();
      image.src = src;
      await image.decode();
      return [image.naturalWidth, image.naturalHeight];
    }, url);
    expect(size).toEqual([1568, 784]);
    await panel.send("And now?");
    await panel.text("Still noise.").waitFor();
    expect((await vs.model.request(2)).messages.slice(0, messages.length)).toEqual(messages);
  });
});

describe("Escape", () => {
  it("stops the turn where one writes, not where it closes or leaves something", async () => {
    const first = gate();
    vs.model.play(holds("Busy.", first.opened), holds("Busy again.", gate().opened));
    await panel.send("First");
    await panel.text("Busy.").waitFor();
    const menu = panel.frame.getByRole("menu");
    await panel.button("More").click();
    await menu.waitFor();
    await vs.page.keyboard.press("Escape");
    await menu.waitFor({ state: "detached" });
    await panel.composer.focus();
    await vs.page.keyboard.press("Alt+ArrowUp");
    await expect.poll(() => panel.frame.locator("[data-item]:focus").count()).toBe(1);
    await vs.page.keyboard.press("Escape");
    await expect
      .poll(() => panel.composer.evaluate((field) => field === document.activeElement))
      .toBe(true);
    first.open();
    await expect.poll(() => panel.button("Stop").count()).toBe(0);
    expect(await panel.text("Stopped by you").count()).toBe(0);
    await panel.send("Second");
    await panel.text("Busy again.").waitFor();
    await vs.page.keyboard.press("Escape");
    await panel.text("Stopped by you").waitFor();
  });
});

describe("a command", () => {
  it("is approved, runs, and shows how it ended", async () => {
    vs.model.play(
      calls("I count.", ["run_command", { command: "echo one && echo two" }]),
      says("Two lines."),
    );
    await panel.send("Count");
    const card = panel.card("Run this command?");
    await card.waitFor();
    expect(await card.locator(".command").innerText()).toBe("echo one && echo two");
    await vs.picture("command");
    await panel.answer(card.getByRole("button", { name: "Allow once" }));
    await panel.text("Two lines.").waitFor();
    expect(results(await vs.model.request(2))[0]).toContain("one\ntwo");
    await panel.text("exit 0").waitFor();
    expect(await card.count()).toBe(0);
  });

  it("is rejected with a note that the model reads", async () => {
    vs.model.play(calls("", ["run_command", { command: "touch gone" }]), says("Then not."));
    await panel.send("Make it");
    await panel.reject("use the other folder");
    await panel.text("Then not.").waitFor();
    expect(results(await vs.model.request(2))[0]).toContain("use the other folder");
    expect(() => vs.read("gone")).toThrow();
  });

  it("is approved with the keyboard alone", async () => {
    vs.model.play(calls("", ["run_command", { command: "echo keys" }]), says("With keys."));
    await vs.page.keyboard.press("Control+Alt+T");
    await expect
      .poll(() => panel.composer.evaluate((field) => field === document.activeElement))
      .toBe(true);
    await vs.page.keyboard.type("By keyboard");
    await vs.page.keyboard.press("Enter");
    await panel.button("Allow once").waitFor();
    // The question took no focus: the person leads there.
    expect(await panel.composer.evaluate((field) => field === document.activeElement)).toBe(true);
    const named = (): Promise<string> =>
      panel.frame
        .locator(":focus")
        .first()
        .innerText({ timeout: 1000 })
        .catch(() => "");
    await expect
      .poll(
        async () => {
          if ((await named()) !== "Allow once") await vs.page.keyboard.press("Shift+Tab");
          return named();
        },
        { timeout: 15_000, interval: 50 },
      )
      .toBe("Allow once");
    await vs.page.keyboard.press("Enter");
    await panel.text("With keys.").waitFor();
  });
});

describe("a window that is loaded again", () => {
  it("in the middle of a turn shows the session and can go on", async () => {
    vs.model.play(holds("Half of it", gate().opened), says("All of it."));
    await panel.send("Tell me all");
    await panel.text("Half of it").waitFor();
    await vs.open();
    panel = await vs.showChat();
    await panel.text("Half of it").waitFor();
    await panel.button("Resume").click();
    await panel.text("All of it.").waitFor();
    expect(JSON.stringify((await vs.model.request(2)).messages)).toContain("Half of it");
  });

  it("shows a question that was open as not run, with a way to go on", async () => {
    vs.model.play(calls("", ["run_command", { command: "touch never" }]), says("Look first."));
    await panel.send("Touch it");
    await panel.button("Allow once").waitFor();
    await vs.open();
    panel = await vs.showChat();
    await panel.text("not run").waitFor();
    expect(await panel.button("Allow once").count()).toBe(0);
    await panel.button("Resume").click();
    await panel.text("Look first.").waitFor();
    expect(() => vs.read("never")).toThrow();
  });
});

describe("a server that is killed", () => {
  it("is started again, and its turn can be resumed", async () => {
    vs.model.play(holds("Nearly", gate().opened), says("Done now."));
    await panel.send("Be killed");
    await panel.text("Nearly").waitFor();
    vs.killServer();
    await panel.button("Resume").waitFor();
    await vs.picture("killed");
    await panel.button("Resume").click();
    await panel.text("Done now.").waitFor();
  });
});
