import { beforeEach, describe, expect, it } from "vitest";
import { Contexts } from "../../src/host/contexts";
import { Status } from "../../src/host/status";
import { Watch } from "../../src/host/watch";
import type { Value } from "../../src/shared/messages";
import { FakeServer, settle } from "../fakes/server";
import { ran, statusItem } from "../fakes/vscode";

function watching() {
  const server = new FakeServer({ "turnbuckle/watch": () => ({}) });
  const watch = new Watch(server.server, () => undefined);
  const told = (sessionId: string, state: string, approvals = 0): void =>
    server.send("watch", {
      type: "session/changed",
      data: { sessionId, state, approvals, hunks: 0 },
    } as unknown as Value);
  return { server, watch, told };
}

beforeEach(() => {
  ran.length = 0;
});

describe("the watch", () => {
  it("asks each server once it is there, and forgets what the one before said", async () => {
    const { server, watch, told } = watching();
    expect(server.count("turnbuckle/watch")).toBe(0);
    server.comeBack();
    told("a", "waiting", 2);
    told("b", "running");
    expect(watch.approvals).toBe(2);
    told("a", "closed");
    expect(watch.all.map((one) => one.sessionId)).toEqual(["b"]);
    server.comeBack();
    await settle();
    expect(watch.all).toEqual([]);
    expect(server.count("turnbuckle/watch")).toBe(2);
  });

  it("tells of files whose hunks changed, and skips what it does not know", () => {
    const { server, watch } = watching();
    const seen: string[] = [];
    watch.onReview((uri) => seen.push(uri));
    server.send("watch", {
      type: "review/changed",
      data: { uri: "file:///a" },
    } as unknown as Value);
    server.send("watch", { type: "something/new", data: {} } as unknown as Value);
    expect(seen).toEqual(["file:///a"]);
    expect(watch.all).toEqual([]);
  });
});

describe("the status bar", () => {
  it("leads to what is wanted most: the failure's log, the questions, the chat", () => {
    const { server, watch, told } = watching();
    const status = new Status(server.server, watch);
    expect(statusItem).toMatchObject({ command: "turnbuckle.ui.focusChat" });
    told("a", "running");
    expect(statusItem.text).toContain("loading");
    told("a", "waiting", 1);
    expect(statusItem).toMatchObject({
      command: "turnbuckle.ui.answer",
      tooltip: "Turnbuckle: 1 question waits for you",
      accessibilityInformation: { label: "Turnbuckle: 1 question waits for you" },
    });
    expect(statusItem.backgroundColor).toBeDefined();
    server.become({ state: "failed", message: "no Python" });
    expect(statusItem).toMatchObject({
      command: "turnbuckle.ui.showLog",
      tooltip: "Turnbuckle: no Python",
    });
    status.dispose();
  });
});

describe("the keys for `when`", () => {
  it("follow what goes on, and are set only when they change", () => {
    const { watch, told } = watching();
    const contexts = new Contexts(watch);
    const set = () => ran.splice(0).map(({ args }) => args.join(" "));
    expect(set()).toEqual(["turnbuckle.turnRunning false", "turnbuckle.pendingApproval false"]);
    told("a", "running");
    told("b", "running");
    expect(set()).toEqual(["turnbuckle.turnRunning true"]);
    told("a", "waiting", 1);
    expect(set()).toEqual(["turnbuckle.pendingApproval true"]);
    told("a", "idle");
    told("b", "idle");
    expect(set()).toEqual(["turnbuckle.pendingApproval false", "turnbuckle.turnRunning false"]);
    contexts.dispose();
  });
});
