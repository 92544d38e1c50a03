// How responsive the panel of the VS Code client stays, in Chromium: `make bench-panel`.
//
// Ten thousand deltas of one answer, and two thousand items of one session. Every patch is timed
// in the page, drawing included; nothing may block it for longer than 50 ms. With `--check` the
// limit is held; names of texts run only these.
import { hello, launch, open, session, values } from "../vscode-client/test/looks/page.mjs";

const wanted = process.argv.slice(2).filter((one) => one !== "--check");
const LIMIT = 50;
const AT = { turn: 1, step: 1 };
const LIVE = { type: "live", data: { seq: 0 } };

let seq = 0;
const fact = (type, data) => ({ seq: seq++, time: Date.now(), type, data });

const WORDS =
  "The quick brown fox **jumps** over `lazy()` dogs, and [more](src/a.py) of it follows. ".split(
    " ",
  );
const TEXTS = {
  prose: (i) => `${WORDS[i % WORDS.length]} ${i % 60 === 59 ? "\n\n" : ""}`,
  code: (i) => (i === 0 ? "```python\n" : `value_${i} = call(${i})${i % 3 ? "  " : "\n"}`),
  list: (i) => `${i % 8 === 0 ? "\n- " : ""}${WORDS[i % WORDS.length]} `,
  "one paragraph": (i) => `${WORDS[i % WORDS.length]} `,
  "a list in a list": (i) =>
    `${i % 8 === 0 ? (i === 0 ? "- " : "\n  - ") : ""}${WORDS[i % WORDS.length]} `,
  quote: (i) => `${i % 8 === 0 ? "\n> " : ""}${WORDS[i % WORDS.length]} `,
  table: (i) =>
    i === 0
      ? "| a | b |\n|---|---|\n"
      : `${i % 8 === 1 ? "| " : ""}${WORDS[i % WORDS.length]}${i % 8 === 0 ? " |\n" : " "}`,
  "code in a list": (i) =>
    i === 0
      ? "1. So:\n\n   ```python\n"
      : `${i % 3 === 1 ? "   " : ""}value_${i} = call(${i})${i % 3 ? "  " : "\n"}`,
  "one line of code": (i) => (i === 0 ? "```json\n" : `"key_${i}":${i},`),
};

/** Posts batches one after the other, each once the one before was drawn; gives milliseconds. */
async function timed(page, batches) {
  return page.evaluate(async (all) => {
    const { worked } = window;
    const times = [];
    const tasks = [];
    new PerformanceObserver((list) =>
      tasks.push(...list.getEntries().map((one) => one.duration)),
    ).observe({ type: "longtask" });
    const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    for (const batch of all) {
      await drawn();
      times.push(
        await worked(() => window.dispatchEvent(new MessageEvent("message", { data: batch }))),
      );
    }
    await drawn();
    await drawn();
    return { times, tasks };
  }, batches);
}

function grouped(facts, size) {
  const batches = [];
  for (let at = 0; at < facts.length; at += size)
    batches.push(values(...facts.slice(at, at + size)));
  return batches;
}

function told({ times, tasks }) {
  const sorted = [...times].sort((one, other) => one - other);
  const at = (share) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))].toFixed(1);
  const longest = Math.max(0, ...tasks);
  return {
    patches: times.length,
    p50: at(0.5),
    p99: at(0.99),
    max: at(1),
    longTasks: tasks.length,
    longest: Math.round(longest),
  };
}

async function fresh(browser) {
  const made = await open(browser);
  await made.page.evaluate(() => {
    // What an act costs: itself, and the frame in which it is drawn, with its layout.
    window.worked = async (act) => {
      let frame = 0;
      requestAnimationFrame(() => {
        frame = performance.now();
      });
      const start = performance.now();
      act();
      const acted = performance.now() - start;
      await new Promise((done) => requestAnimationFrame(done));
      document.body.offsetHeight;
      return acted + performance.now() - frame;
    };
  });
  await made.post(hello(), session(), values(LIVE));
  await made.page.waitForFunction(() => window.sent.some((one) => one.type === "ack"));
  return made;
}

const heap = (page) => page.evaluate(() => Math.round(performance.memory.usedJSHeapSize / 1e6));
const nodes = (page) => page.evaluate(() => document.querySelectorAll("*").length);

const browser = await launch();
const rows = {};
for (const [name, text] of Object.entries(TEXTS)) {
  if (wanted.length && !wanted.includes(name)) continue;
  seq = 0;
  const { page, faults } = await fresh(browser);
  const begun = fact("turn/start", { turn: 1 });
  const facts = Array.from({ length: 10_000 }, (_, i) =>
    fact("assistant/chunk", { ...AT, text: text(i) }),
  );
  // As the host sends them: what came in 40 ms, at 250 deltas a second.
  const content = facts.map((one) => one.data.text).join("");
  const whole = fact("assistant/message", { ...AT, content, finish: "stop", toolCalls: [] });
  const ended = fact("turn/end", { turn: 1, end: { kind: "completed" } });
  const found = await timed(page, [values(begun), ...grouped(facts, 10), values(whole, ended)]);
  rows[`10,000 deltas: ${name}`] = {
    ...told(found),
    heap: await heap(page),
    nodes: await nodes(page),
    faults: faults.length,
  };
  await page.close();
}

function items(count) {
  const facts = [];
  for (let turn = 1; facts.length < count * 2.4; turn++) {
    facts.push(
      fact("turn/start", { turn }),
      fact("user/message", { turn, step: 1, content: `Question ${turn}` }),
    );
    for (let step = 1; step <= 4; step++) {
      const call = {
        callId: `c${turn}-${step}`,
        name: step % 2 ? "read_file" : "run_command",
        arguments: '{"path":"a.py","command":"ls"}',
      };
      facts.push(
        fact("assistant/message", {
          turn,
          step,
          content: `Answer with \`code\`\n\n\`\`\`py\nx = ${turn}\n\`\`\`\n`,
          finish: "stop",
          toolCalls: [call],
        }),
      );
      facts.push(
        fact("tool/result", {
          turn,
          step,
          callId: call.callId,
          content: "out\n".repeat(20),
          isError: false,
          meta: { exitCode: 0 },
        }),
      );
    }
    facts.push(fact("turn/end", { turn, end: { kind: "completed" } }));
  }
  return facts;
}
if (!wanted.length || wanted.includes("items")) {
  seq = 0;
  const { page, faults } = await fresh(browser);
  const facts = items(2_000);
  const whole = await timed(page, grouped(facts, 200));
  rows["2,000 items: replay"] = {
    ...told(whole),
    heap: await heap(page),
    nodes: await nodes(page),
    faults: faults.length,
  };
  const begun = fact("turn/start", { turn: 999 });
  const chunks = Array.from({ length: 2_000 }, (_, i) =>
    fact("assistant/chunk", { turn: 999, step: 1, text: TEXTS.prose(i) }),
  );
  const more = await timed(page, [values(begun), ...grouped(chunks, 10)]);
  rows["2,000 items: then streaming"] = {
    ...told(more),
    heap: await heap(page),
    nodes: await nodes(page),
    faults: faults.length,
  };
  const keys = await page.evaluate(async () => {
    const field = document.querySelector(".composer textarea");
    const times = [];
    for (let i = 0; i < 100; i++) {
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      times.push(
        await window.worked(() => {
          field.value += "x";
          field.dispatchEvent(new InputEvent("input", { bubbles: true }));
        }),
      );
    }
    return { times, tasks: [] };
  });
  rows["2,000 items: typing"] = {
    ...told(keys),
    heap: await heap(page),
    nodes: await nodes(page),
    faults: faults.length,
  };
  await page.close();
}
await browser.close();
console.table(rows);
if (process.argv.includes("--check")) {
  const slow = Object.entries(rows).filter(
    ([, row]) => Math.max(row.max, row.longest) > LIMIT || row.faults > 0,
  );
  for (const [name, row] of slow)
    console.error(
      `${name}: at most ${row.max} ms in a patch and ${row.longest} ms in a task, ` +
        `${LIMIT} are allowed; faults ${row.faults}`,
    );
  process.exitCode = slow.length ? 1 : 0;
}
