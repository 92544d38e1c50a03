// Not for right and wrong but for the eye: the panel in each kind of theme, with all it can show.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { calls, says } from "./model";
import { kept, Workbench } from "./workbench";

let vs: Workbench;

const SCENE = [
  calls(
    "The test expects `ValueError`, but `mean([])` divides by zero. I look at both files first.",
    [
      "todo_write",
      {
        items: [
          { text: "Reproduce the failure", state: "done" },
          { text: "Guard the empty list", state: "active" },
          { text: "Run the tests again", state: "open" },
        ],
      },
    ],
    ["read_file", { path: "stats.py" }],
    ["search", { pattern: "mean" }],
  ),
  calls("", ["run_command", { command: "python3 -c 'import stats; stats.mean([])'" }]),
  calls(
    "It is as I thought:\n\n```python\n>>> mean([])\nZeroDivisionError: division by zero\n```\n\n- guard the empty list\n- keep the API",
    [
      "edit_file",
      {
        path: "stats.py",
        edits: [
          {
            old: "    return sum(items) / len(items)\n",
            new: '    if not items:\n        raise ValueError("no items")\n    return sum(items) / len(items)\n',
          },
        ],
      },
    ],
  ),
  says("Done: `mean` now raises `ValueError` for an empty list."),
];

beforeAll(async () => {
  vs = await Workbench.start();
  vs.write("stats.py", "def mean(items):\n    return sum(items) / len(items)\n");
  await vs.open();
  await vs.showChat();
  await widen(110);
}, 120_000);

afterAll(async () => vs?.stop(), 30_000);

/** Draw the chat's edge to the left, by so many pixels. */
async function widen(pixels: number): Promise<void> {
  const bar = vs.page.locator(".part.auxiliarybar");
  const { x, y } = (await bar.boundingBox())!;
  await vs.page.mouse.move(x - 3, y + 200);
  await vs.page.mouse.down();
  await vs.page.mouse.move(x - pixels, y + 200, { steps: 5 });
  await vs.page.mouse.up();
}

describe.each([
  ["dark", "Dark Modern"],
  ["light", "Light Modern"],
  ["contrast", "Default High Contrast"],
])("in a theme that is %s", (name, theme) => {
  it("the panel shows a whole turn", async (context) => {
    kept(context, vs);
    await vs.setting("workbench.colorTheme", theme);
    await vs.page
      .locator(
        name === "contrast"
          ? ".monaco-workbench.hc-black"
          : `.monaco-workbench.vs${name === "dark" ? "-dark" : ""}`,
      )
      .waitFor();
    const panel = await vs.showChat();
    await panel.button("New session").click();
    await panel.text("Ask, review, accept").waitFor();
    vs.model.play(...SCENE);
    await vs.openFile("stats.py");
    await panel.send("The test for an empty list fails. Fix `mean`, keep the API.");
    await panel.answer(panel.button("Allow once"));
    await panel.button("Accept all").waitFor();
    // The end is followed, also by what draws itself.
    await panel.text("Guard the empty list").waitFor();
    await expect.poll(() => panel.toEnd()).toBeLessThan(2);
    await vs.page.locator(".codelens-decoration", { hasText: "Accept" }).first().waitFor();
    await vs.picture(`look-${name}`);
    await panel.reject();
    await panel.text("Done: ").waitFor();
    await expect.poll(() => vs.page.locator(".codelens-decoration").count()).toBe(0);
    await vs.picture(`look-${name}-done`);
  });
});
