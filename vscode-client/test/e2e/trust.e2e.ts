import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { says } from "./model";
import { kept, Workbench } from "./workbench";

let vs: Workbench;

beforeAll(async () => {
  vs = await Workbench.start({ "security.workspace.trust.startupPrompt": "never" }, true);
  vs.write("a.py", "a = 1\n");
  await vs.open();
}, 120_000);

afterAll(async () => vs?.stop(), 30_000);

describe("a workspace that is not trusted", () => {
  it("runs nothing, says why, and works once it is trusted", async (context) => {
    kept(context, vs);
    let panel = await vs.showChat();
    await panel.text("This workspace is not trusted").waitFor();
    expect(await panel.composer.isDisabled()).toBe(true);
    await panel.button("More").waitFor(); // the session is there, too
    await panel.button("Sessions").click();
    await panel.text("There are no sessions yet.").waitFor();
    await vs.picture("restricted");
    expect(vs.model.requests.length).toBe(0);

    await vs.command("Workspaces: Manage Workspace Trust");
    await vs.page
      .locator(".workspace-trust-editor")
      .getByText("Trust", { exact: true })
      .first()
      .click();
    await vs.page.locator(".workspace-trust-editor").getByText("You trust this folder").waitFor();
    await vs.page.keyboard.press("Escape");
    vs.model.play(says("Now it runs."));
    panel = await vs.showChat();
    await expect.poll(() => panel.composer.isDisabled(), { timeout: 20_000 }).toBe(false);
    await panel.send("Hello");
    await panel.text("Now it runs.").waitFor();
  });
});
