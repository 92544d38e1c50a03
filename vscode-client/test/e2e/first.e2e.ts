// The first minutes of a person who has connected nothing yet.

import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kept, Workbench } from "./workbench";

const EXAMPLE = resolve(__dirname, "../../../examples/workspace");
const home = mkdtempSync(join(tmpdir(), "turnbuckle-first-"));
let vs: Workbench;

beforeAll(async () => {
  writeFileSync(join(home, "config.toml"), "");
  vs = await Workbench.start({
    "turnbuckle.model": "demo",
    "turnbuckle.server.env": {
      TURNBUCKLE_STATE_DIR: join(home, "state"),
      TURNBUCKLE_CONFIG: join(home, "config.toml"),
    },
  });
  cpSync(EXAMPLE, vs.folder, { recursive: true });
  await vs.open();
}, 120_000);

afterAll(async () => {
  await vs?.stop();
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}, 30_000);

describe("without a model", () => {
  it("the chat says how to connect one, and plays the demo to its end", async (context) => {
    kept(context, vs);
    const panel = await vs.showChat();
    await panel.button("Connect a model…").waitFor();
    await vs.picture("first");
    await panel.button("Try the demo").click();
    await expect.poll(() => panel.composer.inputValue()).toBe("Fix the failing test.");
    await panel.composer.press("Enter");
    await panel.answer(panel.button("Allow once"));
    await panel.button("Accept all").waitFor();
    await vs.picture("first-edit");
    const before = vs.read("pricing/discounts.py");
    await panel.answer(panel.button("Accept all"));
    await expect.poll(() => vs.read("pricing/discounts.py")).not.toBe(before);
    await panel.answer(panel.button("Allow once"));
    await expect.poll(() => panel.button("Stop").count()).toBe(0);
    expect(await panel.item("call").count()).toBeGreaterThan(3);
    await vs.picture("first-done");
  }, 60_000);
});
