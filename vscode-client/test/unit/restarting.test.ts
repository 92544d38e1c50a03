import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { apis } from "../../src/host/python";
import { Restarting } from "../../src/host/restarting";
import { granted } from "../../src/host/sessions";
import { FakeServer, settle } from "../fakes/server";
import { answers, asked, workspace } from "../fakes/vscode";

function made() {
  const server = new FakeServer({});
  const settings = { now: "a" };
  const restarting = new Restarting(
    server.server,
    () => settings.now,
    () => undefined,
  );
  const starts = (): void => {
    server.become({ state: "starting" });
    server.become({ state: "running" });
  };
  server.restart = () => {
    server.restarts++;
    starts();
    return Promise.resolve();
  };
  const changed = async (): Promise<void> => {
    restarting.changed();
    vi.runOnlyPendingTimers();
    await settle();
  };
  return { server, settings, restarting, starts, changed };
}

beforeEach(() => {
  vi.useFakeTimers();
  asked.length = 0;
  answers.length = 0;
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a changed setting", () => {
  it("offers a restart, once, and only where it matters to the server", async () => {
    const { server, settings, starts, changed } = made();
    settings.now = "b";
    await changed(); // no server has started yet
    server.state = { state: "stopped" };
    starts();
    await changed();
    expect(asked).toEqual([]);
    settings.now = "c";
    answers.push("Restart");
    await changed();
    expect(asked).toMatchObject([{ kind: "message", choices: ["Restart"] }]);
    expect(server.restarts).toBe(1);
    await changed();
    expect(asked).toHaveLength(1);
  });

  it("that is not wanted now restarts nothing", async () => {
    const { server, settings, starts, changed } = made();
    starts();
    settings.now = "b";
    answers.push(undefined);
    await changed();
    expect(server.restarts).toBe(0);
  });

  it("is tried at once where the server did not start", async () => {
    const { server, settings, starts, changed } = made();
    starts();
    server.become({ state: "failed", message: "no Python" });
    settings.now = "b";
    await changed();
    expect(asked).toEqual([]);
    expect(server.restarts).toBe(1);
  });
});

describe("a workspace that is not trusted", () => {
  it("names no interpreter", async () => {
    workspace.isTrusted = false;
    const extension = () => {
      throw new Error("was asked");
    };
    const { environments, python } = apis(extension);
    expect([await environments(), await python()]).toEqual([undefined, undefined]);
    workspace.isTrusted = true;
    await expect(apis(extension).python()).rejects.toThrow("was asked");
  });
});

describe("a grant", () => {
  it("is a line that says what is allowed", () => {
    expect(granted({ kind: "command", command: "npm\n test", cwd: "file:///w" })).toBe(
      "$(terminal) npm test",
    );
    expect(granted({ kind: "change", uri: "file:///w/a.py" })).toBe("$(edit) Edit a.py");
    expect(granted({ kind: "read", uri: "file:///etc/hosts" })).toBe("$(book) Read hosts");
    expect(granted({ kind: "new-kind" })).toContain("cannot name");
  });
});
