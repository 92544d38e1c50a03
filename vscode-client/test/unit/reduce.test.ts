import { describe, expect, it } from "vitest";
import type { Fact, Facts } from "../../src/wire/types";
import type { Value } from "../../src/shared/messages";
import { Reducer } from "../../src/session/reduce";
import type { CallItem, Item } from "../../src/session/state";

let seq = 0;

function fact<T extends keyof Facts>(type: T, data: Facts[T]): Fact {
  return { seq: seq++, time: 1000 + seq, type, data } as Fact;
}

function reduced(...values: Value[]): Reducer {
  const reducer = new Reducer();
  for (const value of values) reducer.apply(value);
  return reducer;
}

function said(items: Item[]): string[] {
  return items.map((item) => ("text" in item ? `${item.kind}: ${item.text}` : item.kind));
}

const TURN = { turn: 1, step: 1 };

function asked(): Value[] {
  seq = 0;
  return [
    fact("session/created", { version: 1, id: "s" }),
    fact("inbox/added", {
      key: "k",
      target: "turn",
      input: "Fix it\nplease",
      source: "user",
      context: [
        {
          kind: "selection",
          uri: "file:///w/a%20b.py",
          range: { start: { line: 3 }, end: { line: 6 } },
        },
      ],
    }),
    fact("turn/start", { turn: 1 }),
    fact("step/start", TURN),
    fact("user/message", { ...TURN, content: "The person has selected …", source: "context" }),
    fact("user/message", { ...TURN, key: "k", content: "Fix it\nplease", source: "user" }),
  ];
}

function called(): Value[] {
  return [
    ...asked(),
    fact("llm/stream", { ...TURN, attempt: 1, model: "m", window: 100, digest: "d" }),
    fact("assistant/chunk", { ...TURN, text: "I look " }),
    fact("assistant/chunk", { ...TURN, text: "at it." }),
    fact("assistant/chunk", {
      ...TURN,
      toolCalls: [{ index: 0, name: "run_command", arguments: '{"com' }],
    }),
    fact("assistant/chunk", { ...TURN, toolCalls: [{ index: 0, arguments: 'mand":"ls"}' }] }),
    fact("assistant/message", {
      ...TURN,
      content: "I look at it.",
      finish: "tool_calls",
      toolCalls: [{ callId: "c1", name: "run_command", arguments: '{"command":"ls"}' }],
      usage: { input: 10, output: 5, total: 15 },
    }),
    fact("tool/call", {
      ...TURN,
      callId: "c1",
      name: "run_command",
      arguments: '{"command":"ls"}',
    }),
    fact("approval/asked", {
      approvalId: "a1",
      callId: "c1",
      digest: "d",
      choices: ["allow", "reject"],
      subject: {
        kind: "command",
        command: "ls",
        cwd: "file:///w",
        reason: "commands are asked about",
      },
    }),
  ];
}

describe("a message", () => {
  it("waits until it enters, and gives the session its title", () => {
    const [created, added, ...rest] = asked();
    const reducer = reduced(created!, added!);
    expect(reducer.state.waiting).toEqual([
      {
        key: "k",
        text: "Fix it\nplease",
        target: "turn",
        pointed: [expect.objectContaining({ kind: "selection" })],
        parked: false,
      },
    ]);
    expect(reducer.state.title).toBe("Fix it");
    for (const value of rest) reducer.apply(value);
    expect(reducer.state.waiting).toEqual([]);
    expect(reducer.state.items).toMatchObject([
      { kind: "user", text: "Fix it\nplease", context: ["a b.py:4–7"] },
    ]);
  });

  it("that is edited or dropped while it waits is shown so", () => {
    const [created, added] = asked();
    const reducer = reduced(created!, added!, fact("inbox/changed", { key: "k", input: "Other" }));
    expect(reducer.state.waiting[0]?.text).toBe("Other");
    reducer.apply(fact("inbox/dropped", { keys: ["k"], why: "edited away" }));
    expect(reducer.state.waiting).toEqual([]);
  });
});

describe("an answer", () => {
  it("grows chunk by chunk and is what its message says in the end", () => {
    const reducer = reduced(...called().slice(0, 9));
    expect(reducer.state.items.at(-1)).toMatchObject({
      kind: "assistant",
      text: "I look at it.",
      streaming: true,
    });
    const whole = reduced(...called());
    expect(said(whole.state.items).slice(0, 2)).toEqual([
      "user: Fix it\nplease",
      "assistant: I look at it.",
    ]);
    expect(whole.state.items[1]).toMatchObject({ streaming: false });
    expect(whole.state).toMatchObject({ context: 15, window: 100, model: "m" });
  });

  it("of an attempt that failed is taken away", () => {
    const failure = { kind: "server", message: "busy" } as const;
    const reducer = reduced(
      ...called().slice(0, 11),
      fact("llm/failed", { attempt: 1, failure, retryAt: 99 }),
    );
    expect(reducer.state.items.map((item) => item.kind)).toEqual(["user"]);
    expect(reducer.state.status).toEqual({ text: "busy", until: 99 });
  });

  it("needs no chunks: a replay leaves them out", () => {
    const values = called().filter((value) => value.type !== "assistant/chunk");
    expect(reduced(...values).state.items).toMatchObject([
      { kind: "user" },
      { kind: "assistant", text: "I look at it." },
      { kind: "call", name: "run_command" },
    ]);
  });
});

describe("a call", () => {
  const callOf = (reducer: Reducer): CallItem =>
    reducer.state.items.find((item): item is CallItem => item.kind === "call")!;

  it("is written, waits for the person, runs, and is done", () => {
    const values = called();
    const reducer = reduced(...values.slice(0, 11));
    expect(callOf(reducer)).toMatchObject({ state: "proposed", arguments: '{"command":"ls"}' });
    for (const value of values.slice(11)) reducer.apply(value);
    expect(callOf(reducer)).toMatchObject({ state: "waiting", callId: "c1" });
    expect(reducer.state.open.map((one) => one.approvalId)).toEqual(["a1"]);
    reducer.apply(fact("approval/decided", { approvalId: "a1", outcome: "allowed", by: "client" }));
    expect(reducer.state.open).toEqual([]);
    reducer.apply(fact("tool/start", { callId: "c1", attempt: 1 }));
    reducer.apply({ type: "tool/output", data: { callId: "c1", text: "a\n" } });
    expect(callOf(reducer)).toMatchObject({ state: "running", output: "a\n" });
    reducer.apply(fact("tool/result", { ...TURN, callId: "c1", content: "a\n", isError: false }));
    expect(callOf(reducer)).toMatchObject({
      state: "done",
      result: "a\n",
      approval: { outcome: "allowed" },
    });
  });

  it.each([
    ["DENIED", "denied"],
    ["TOOL_NOT_STARTED", "notRun"],
    ["ABORTED_BEFORE_DISPATCH", "notRun"],
    ["TIMEOUT", "failed"],
  ])("that ended %s is %s", (code, state) => {
    const result = { ...TURN, callId: "c1", content: "<tool error: no>", isError: true, code };
    expect(callOf(reduced(...called(), fact("tool/result", result))).state).toBe(state);
  });

  it("keeps a bounded tail of what it prints", () => {
    const reducer = reduced(...called());
    for (let i = 0; i < 100; i++) {
      reducer.apply({ type: "tool/output", data: { callId: "c1", text: "x".repeat(1000) } });
    }
    expect(callOf(reducer).output.length).toBe(8192);
  });
});

describe("a session", () => {
  it("skips facts that it has seen and types that it does not know", () => {
    const values = called();
    const reducer = reduced(...values, ...values);
    reducer.apply({ seq: 99, time: 0, type: "plugin/x", data: {} } as unknown as Value);
    expect(reducer.state.items.length).toBe(3);
    expect(reducer.state.seq).toBe(99);
  });

  it("shows how a turn ended unless it is complete", () => {
    const failure = { kind: "auth", message: "key refused" } as const;
    const reducer = reduced(
      ...called(),
      fact("turn/end", { turn: 1, end: { kind: "error", failure } }),
    );
    expect(reducer.state.items.at(-1)).toMatchObject({
      kind: "end",
      end: { failure: { message: "key refused" } },
    });
    expect(reducer.state.running).toBeUndefined();
  });

  it("marks what a rewind took back, and brings it back when that is undone", () => {
    const values = called();
    const reducer = reduced(...values, fact("turn/end", { turn: 1, end: { kind: "completed" } }));
    const before = seq - 1;
    reducer.apply(fact("context/rewound", { to: 1 }));
    expect(reducer.state.gone.size).toBe(3);
    reducer.apply(fact("context/rewound", { to: before }));
    const gone = reducer.state.items.filter((item) => reducer.state.gone.has(item.id));
    expect(gone.map((item) => item.kind)).toEqual(["notice"]);
  });
});

describe("what a session costs", () => {
  it("is counted on from where it was opened, and nothing twice", () => {
    const reducer = new Reducer();
    const usage = { input: 100, output: 10, total: 110 };
    const values = called();
    reducer.begin({ from: 0, seq: seq - 1, usage, context: 15 });
    for (const value of values) reducer.apply(value);
    expect(reducer.state).toMatchObject({ usage, context: 15 });
    reducer.apply(
      fact("assistant/message", {
        turn: 1,
        step: 2,
        content: "more",
        finish: "stop",
        usage: { input: 1, output: 2, total: 3 },
      }),
    );
    expect(reducer.state.usage).toMatchObject({ input: 101, output: 12, total: 113 });
    expect(reducer.state.context).toBe(3);
  });

  it("is not known of a context that was summarised, until the next answer", () => {
    const reducer = reduced(...called());
    reducer.apply(
      fact("context/summary", {
        covers: [0, 1],
        text: "short",
        usage: { input: 5, output: 5, total: 10 },
      }),
    );
    expect(reducer.state.context).toBeUndefined();
    expect(reducer.state.usage).toMatchObject({ total: 25 });
  });
});

describe("items", () => {
  it("have the same ids live and replayed, so that what was opened stays open", () => {
    const values = called();
    const live = reduced(...values).state.items.map((item) => item.id);
    const replayed = reduced(...values.filter((value) => value.type !== "assistant/chunk"));
    expect(replayed.state.items.map((item) => item.id)).toEqual(live);
    expect(new Set(live).size).toBe(live.length);
  });

  it("survive values that cannot be read", () => {
    const reducer = reduced(...called());
    const bad = [
      { seq: 100, time: 0, type: "assistant/message", data: null },
      { seq: 101, time: 0, type: "approval/asked", data: { callId: "c1", subject: 7 } },
      { seq: 102, time: 0, type: "toString", data: {} },
      { type: "tool/output", data: null },
    ] as unknown as Value[];
    for (const value of bad) reducer.apply(value);
    expect(reducer.state.seq).toBe(102);
    expect(reducer.state.items.length).toBe(3);
  });
});

describe("a message that waits", () => {
  it("is parked by a stop, not woken by a turn without a step, and goes on with the next", () => {
    const end = (turn: number, kind: "aborted" | "completed") =>
      fact("turn/end", { turn, end: { kind } });
    seq = 0;
    const reducer = reduced(
      fact("turn/start", { turn: 1 }),
      fact("step/start", TURN),
      fact("inbox/added", { key: "later", target: "turn", input: "later" }),
    );
    const parked = () => reducer.state.waiting.map((one) => one.parked);
    expect(parked()).toEqual([false]);
    reducer.apply(end(1, "aborted"));
    expect(parked()).toEqual([true]);
    // A compaction.
    reducer.apply(fact("turn/start", { turn: 2 }));
    reducer.apply(end(2, "completed"));
    expect(parked()).toEqual([true]);
    reducer.apply(fact("turn/start", { turn: 3 }));
    reducer.apply(fact("step/start", { turn: 3, step: 1 }));
    reducer.apply(end(3, "completed"));
    expect(parked()).toEqual([false]);
  });
});
