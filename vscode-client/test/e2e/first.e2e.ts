import { afterAll, beforeAll, describe, expect, it, onTestFailed } from "vitest";
import { gate, holds } from "./model";
import { Workbench, type Panel } from "./workbench";

let vs: Workbench;
let panel: Panel;

beforeAll(async () => {
  vs = await Workbench.start();
  vs.write("stats.py", "import os\n\n\ndef mean(items):\n    x = sum(items)\n    return x / len(items)\n");
  await vs.open();
}, 90_000);

afterAll(async () => vs?.stop(), 30_000);

describe("the chat", () => {
  it("opens, streams, and is stopped", async () => {
    onTestFailed(async () => {
      await vs.picture("failed-first");
      console.log(vs.lastWords);
    });
    const held = gate();
    vs.model.play(holds("I look at **it** now.", held.opened));
    panel = await vs.showChat();
    await panel.send("Fix the average");
    await panel.text("I look at").waitFor();
    await vs.picture("stream");
    await panel.button("Stop").click();
    await panel.text("Stopped by you").waitFor();
    expect(vs.model.requests.length).toBe(1);
  });
});
