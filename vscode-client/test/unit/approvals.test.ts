import { beforeEach, describe, expect, it } from "vitest";
import { OpenApprovals } from "../../src/host/approvals/follow";
import { Router } from "../../src/host/approvals/router";
import type { PanelProvider } from "../../src/host/panel/provider";
import { Watch } from "../../src/host/watch";
import { headline, isPlain, visible, whole } from "../../src/session/words";
import { readSubject } from "../../src/session/subject";
import type { Approval } from "../../src/session/state";
import type { Value } from "../../src/shared/messages";
import { FakeServer, settle } from "../fakes/server";
import { answers, asked, EventEmitter } from "../fakes/vscode";

const COMMAND = {
  kind: "command",
  command: "npm test",
  cwd: "file:///w",
  reason: "it runs a command",
};

function approval(subject: Record<string, unknown>, choices = ["allow", "reject"]): Approval {
  return { approvalId: "a", callId: "c", subject: readSubject(subject), choices, hunks: {} };
}

function routing(accepted = true) {
  const server = new FakeServer({
    "turnbuckle/watch": () => ({}),
    "turnbuckle/session/events": () => ({ from: 0, seq: 0 }),
    "turnbuckle/session/events/stop": () => ({}),
    "turnbuckle/approve": () => ({ accepted }),
  });
  const watch = new Watch(server.server, () => undefined);
  const approvals = new OpenApprovals(server.server, watch, () => undefined);
  const changed = new EventEmitter<void>();
  const panel = {
    visible: false,
    badge: undefined as { value: number } | undefined,
    onChanged: changed.event,
  };
  const reviewed: string[] = [];
  const texts: { id: string; text: string }[] = [];
  const router = new Router(
    server.server,
    approvals,
    panel as unknown as PanelProvider,
    () => "whenHidden",
    (id) => Promise.resolve(void reviewed.push(id)),
    { show: (id, text) => Promise.resolve(void texts.push({ id, text })) },
  );
  let seq = 0;
  const fact = (type: string, data: unknown): Value =>
    ({ seq: seq++, time: 0, type, data }) as unknown as Value;
  const waits = (count: number): void =>
    server.send("watch", {
      type: "session/changed",
      data: { sessionId: "s", state: "waiting", approvals: count, hunks: 0 },
    } as unknown as Value);
  const ask = async (
    approvalId: string,
    subject: Record<string, unknown> = COMMAND,
    choices = ["allow", "reject"],
  ) => {
    waits(1);
    await settle();
    server.send(
      "approvals",
      fact("approval/asked", { approvalId, callId: "c", subject, digest: "d", choices }),
    );
    await settle();
  };
  const decided = (approvalId: string): void =>
    server.send(
      "approvals",
      fact("approval/decided", { approvalId, outcome: "rejected", by: "client" }),
    );
  const given = () =>
    server.asked.filter((one) => one.method === "turnbuckle/approve").map((one) => one.params);
  return { server, approvals, router, panel, changed, ask, decided, given, reviewed, texts, waits };
}

beforeEach(() => {
  asked.length = 0;
  answers.length = 0;
});

describe("a question while the panel is hidden", () => {
  it("is told once, with a badge, and one notification that answers nothing", async () => {
    const { ask, panel, given, changed } = routing();
    await ask("a1");
    expect(panel.badge).toMatchObject({ value: 1 });
    expect(asked).toMatchObject([{ kind: "message", text: "Turnbuckle asks: Run npm test" }]);
    expect(asked[0]!.choices.some((choice) => choice.startsWith("Allow"))).toBe(false);
    changed.fire();
    await settle();
    expect(asked).toHaveLength(1);
    expect(given()).toEqual([]);
  });

  it("is not told by a notification while the panel is seen", async () => {
    const { ask, panel } = routing();
    panel.visible = true;
    await ask("a1");
    expect(asked).toEqual([]);
    expect(panel.badge).toMatchObject({ value: 1 });
  });

  it("takes its badge along when it is settled elsewhere", async () => {
    const { ask, panel, decided, router } = routing();
    await ask("a1");
    decided("a1");
    expect(panel.badge).toBeUndefined();
    await router.pick("a1");
    expect(asked.at(-1)).toMatchObject({
      kind: "status",
      text: expect.stringContaining("settled already"),
    });
  });
});

describe("the choices", () => {
  it.each([
    ["Allow once", { approvalId: "a1", decision: "allow" }],
    ["Reject", { approvalId: "a1", decision: "reject" }],
  ])("%s is that answer, once", async (choice, params) => {
    const { ask, router, given } = routing();
    await ask("a1");
    answers.push(choice);
    await router.pick("a1");
    expect(given()).toEqual([params]);
  });

  it("dismissed answer nothing", async () => {
    const { ask, router, given } = routing();
    await ask("a1");
    answers.push(undefined);
    await router.pick("a1");
    expect(given()).toEqual([]);
  });

  it("of a note that is dismissed answer nothing", async () => {
    const { ask, router, given } = routing();
    await ask("a1");
    answers.push("Reject with a note…", undefined);
    await router.pick("a1");
    expect(given()).toEqual([]);
    answers.push("Reject with a note…", "use pnpm");
    await router.pick("a1");
    expect(given()).toEqual([{ approvalId: "a1", decision: "reject", note: "use pnpm" }]);
  });

  it("offer the session only where the server does", async () => {
    const { ask, router, given } = routing();
    await ask("a1", COMMAND, ["allow", "allowForSession", "reject"]);
    answers.push("Allow for this session");
    await router.pick("a1");
    expect(given()).toEqual([{ approvalId: "a1", decision: "allow", remember: "session" }]);
  });

  it("cannot allow what no line can tell", async () => {
    const { ask, router } = routing();
    await ask("a1", { ...COMMAND, command: "echo a\nrm -rf b" });
    answers.push(undefined);
    await router.pick("a1");
    expect(asked.at(-1)!.choices.some((choice) => choice.startsWith("Allow"))).toBe(false);
  });

  it("may allow it once all of it was shown, and not before", async () => {
    const { ask, router, given, texts } = routing();
    await ask("a1", { ...COMMAND, command: "echo a\nrm -rf b" });
    answers.push("Show…", "Allow once");
    await router.pick("a1");
    expect(texts).toMatchObject([{ id: "a1", text: expect.stringContaining("rm -rf b") }]);
    expect(given()).toEqual([{ approvalId: "a1", decision: "allow" }]);
  });

  it("of a question are its own", async () => {
    const { ask, router, given } = routing();
    await ask("a1", { kind: "question", question: "Which?", choices: ["red", "blue"], reason: "" });
    answers.push("blue");
    await router.pick("a1");
    expect(given()).toEqual([{ approvalId: "a1", answer: "blue" }]);
  });

  it("for an edit lead to its review", async () => {
    const { ask, router, reviewed, given } = routing();
    await ask("a1", { kind: "change", reason: "", files: [] });
    answers.push("Show…");
    await router.pick("a1");
    expect(reviewed).toEqual(["a1"]);
    expect(given()).toEqual([]);
  });
});

describe("an approval in words", () => {
  it("names what would happen in one line", () => {
    expect(headline(approval(COMMAND))).toBe("Run npm test");
    const hunks = [{ hunkId: "h", line: 0, oldText: "a\n", newText: "b\nc\n" }];
    const files = [{ uri: "file:///w/a%20b.py", kind: "edit", hunks }];
    expect(headline(approval({ kind: "change", files }))).toBe("Edit a b.py (1 hunk, +2 −1)");
    expect(headline(approval({ kind: "new-kind" }))).toContain("cannot show");
  });

  it("shows every character that hides", () => {
    expect(visible("a\u202eb\u200bc\u0007\n")).toBe("a\\u{202e}b\\u{200b}c\\u{7}\\n");
    expect(visible("grüße 🎉 日本")).toBe("grüße 🎉 日本");
    expect(isPlain(approval({ ...COMMAND, command: "echo \u202e" }))).toBe(false);
  });

  it("cannot break out of its fence", () => {
    const shown = whole(approval({ ...COMMAND, command: "```\n# Allowed" }));
    expect(shown).toContain("````sh\n```\n# Allowed\n````");
  });
});
