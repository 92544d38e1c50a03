import { describe, expect, it } from "vitest";
import { Batcher, GATHER, UNACKNOWLEDGED } from "../../src/host/panel/batcher";
import type { Value } from "../../src/shared/messages";
import { FakeTime } from "../fakes/server";

function batcher() {
  const time = new FakeTime();
  const posts: { batch: number; values: Value[] }[] = [];
  const made = new Batcher((batch, values) => posts.push({ batch, values }), time.timer);
  return { time, posts, made };
}

let seq = 0;
const chunk = (text: string, step = 1): Value =>
  ({ seq: ++seq, time: 0, type: "assistant/chunk", data: { turn: 1, step, text } }) as Value;

describe("values on their way to the panel", () => {
  it("are gathered for a moment and posted together", () => {
    const { time, posts, made } = batcher();
    made.add(chunk("a"));
    expect(posts).toEqual([]);
    made.add({ type: "status", data: { text: "x" } });
    time.pass(GATHER);
    expect(posts.map((post) => post.values.length)).toEqual([2]);
  });

  it("are one value where text of one answer follows text, with the last number", () => {
    const { time, posts, made } = batcher();
    for (const text of ["a", "b", "c"]) made.add(chunk(text));
    made.add(chunk("other step", 2));
    time.pass(GATHER);
    const last = seq;
    expect(posts[0]?.values).toMatchObject([
      { seq: last - 1, data: { text: "abc" } },
      { seq: last, data: { text: "other step" } },
    ]);
  });

  it("wait while too many batches are not acknowledged, and lose nothing", () => {
    const { time, posts, made } = batcher();
    for (let i = 0; i < 100; i++) {
      made.add(chunk(String(i), i));
      time.pass(GATHER);
    }
    expect(posts.length).toBe(UNACKNOWLEDGED);
    made.acknowledge(UNACKNOWLEDGED);
    time.pass(GATHER);
    expect(posts.flatMap((post) => post.values).length).toBe(100);
  });

  it("do not believe an acknowledgement of what was never sent", () => {
    const { time, posts, made } = batcher();
    made.acknowledge(1000);
    for (let i = 0; i < 20; i++) {
      made.add(chunk("x", i));
      time.pass(GATHER);
    }
    expect(posts.length).toBe(UNACKNOWLEDGED);
  });

  it("are forgotten when the panel shows something else", () => {
    const { time, posts, made } = batcher();
    made.add(chunk("a"));
    made.clear();
    time.pass(10 * GATHER);
    expect(posts).toEqual([]);
  });
});
