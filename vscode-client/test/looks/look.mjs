// Pictures of the panel in its states, widths and themes: `node test/looks/look.mjs FOLDER [STATE…]`.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hello, launch, open, session, values } from "./page.mjs";

const [folder = "looks", ...wanted] = process.argv.slice(2);
const read = (name) =>
  JSON.parse(
    readFileSync(fileURLToPath(new URL(`../fixtures/${name}.json`, import.meta.url)), "utf8"),
  );
const until = (facts, type, count = 1) => {
  let seen = 0;
  return facts.slice(0, facts.findIndex((fact) => fact.type === type && ++seen === count) + 1);
};
const LIVE = { type: "live", data: { seq: 0 } };
const running = (facts) =>
  facts.map((fact) => ("seq" in fact ? { ...fact, time: Date.now() - 12_000 } : fact));
const models = [
  { name: "deepseek-chat", provider: "deepseek", current: true, source: "key" },
  { name: "demo", provider: "built-in", current: false, source: "built-in" },
];
const sessions = [
  {
    sessionId: "s",
    title: "Fix the failing average",
    updated: Date.now(),
    turns: 3,
    cwd: "file:///work",
  },
  {
    sessionId: "b",
    title: "A very long title of a session that does not fit into its line",
    updated: 1.7e12,
    turns: 1,
    match: "…the average of an empty list is not defined…",
    parent: "s",
  },
  { sessionId: "c", updated: 1.69e12, turns: 12, damaged: true, cwd: "file:///other" },
];
const grants = [
  {
    grantId: "g",
    since: 3,
    subject: { kind: "command", command: "pytest -q", cwd: "file:///work" },
  },
];
const fix = read("fix");

const STATES = {
  empty: () => [session({ config: { model: "demo", provider: "built-in" } }), values(LIVE)],
  change: () => [
    session({ title: "Fix the failing average" }),
    values(LIVE, ...running(until(fix, "approval/asked", 2))),
  ],
  done: () => [session(), values(LIVE, ...fix)],
  command: () => [session(), values(LIVE, ...running(until(fix, "approval/asked", 1)))],
  streaming: () => [session(), values(LIVE, ...running(until(fix, "assistant/chunk", 2)))],
  question: () => [session(), values(LIVE, ...until(read("denied"), "approval/asked", 2))],
  outside: () => [session(), values(LIVE, ...until(read("stopped"), "approval/asked", 1))],
  stopped: () => [session(), values(LIVE, ...read("stopped"))],
  failed: () => [session(), values(LIVE, ...read("failed"))],
  server: () => [
    {
      type: "server",
      server: { state: "failed", message: "The server ended with code 1 before it was ready." },
    },
  ],
};
const ACTS = {
  menu: ["done", (page) => page.getByLabel("More").click()],
  sessions: ["done", (page) => page.getByLabel("Sessions").click()],
  slash: ["empty", (page) => page.locator(".composer textarea").fill("/")],
  note: [
    "command",
    async (page) => {
      await page.waitForTimeout(350);
      await page.getByText("Reject…").click();
    },
  ],
  opened: [
    "done",
    async (page) => {
      for (const one of await page.locator(".call > summary").all()) await one.click();
    },
  ],
  tools: ["done", (page) => page.locator(".user-card").hover()],
};

const browser = await launch();
mkdirSync(folder, { recursive: true });
const answers = {
  "turnbuckle/models": { models },
  "turnbuckle/session/list": { sessions },
  "turnbuckle/grants": { grants },
};
for (const name of wanted.length ? wanted : [...Object.keys(STATES), ...Object.keys(ACTS)]) {
  const [state, act] = ACTS[name] ?? [name, undefined];
  for (const [width, theme] of [
    [380, "dark"],
    [300, "light"],
    [240, "dark"],
    [380, "contrast"],
  ]) {
    const { page, post, faults } = await open(browser, { width, theme, answers, height: 860 });
    await post(hello(), ...STATES[state]());
    await page.waitForTimeout(250);
    await act?.(page);
    await page.waitForTimeout(100);
    const wide = await page.evaluate(() =>
      [...document.querySelectorAll("*")]
        .filter(
          (one) =>
            one.getBoundingClientRect().right > innerWidth + 1 &&
            !one.closest("pre, .table, .unseen"),
        )
        .map((one) => one.className),
    );
    if (wide.length || faults.length)
      console.log(name, width, theme, "too wide:", wide, "faults:", faults);
    await page.screenshot({ path: join(folder, `${name}-${width}-${theme}.png`) });
    await page.close();
  }
}
await browser.close();
