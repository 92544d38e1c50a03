import { describe, expect, it } from "vitest";
import type * as vscode from "vscode";
import { withoutKeys } from "../../src/host/server/redact";
import {
  CRASHES,
  CRASH_TIME,
  LanguageServer,
  type Connecting,
  type Connection,
} from "../../src/host/server/server";
import { settle } from "../fakes/server";
import { Disposable } from "../fakes/vscode";

class FakeConnection implements Connection {
  stopped = 0;
  listening = new Set<string>();
  constructor(
    readonly connecting: Connecting,
    private readonly starts: () => Promise<void>,
    private readonly stops: () => Promise<void>,
  ) {}
  start(): Promise<void> {
    return this.starts();
  }
  stop(): Promise<void> {
    this.stopped++;
    return this.stops();
  }
  request(method: string): Promise<unknown> {
    if (method === "turnbuckle/cancel") return new Promise(() => undefined);
    return Promise.resolve({ method });
  }
  onValues(token: string): vscode.Disposable {
    this.listening.add(token);
    return new Disposable(() => this.listening.delete(token)) as unknown as vscode.Disposable;
  }
}

const done = (): Promise<void> => Promise.resolve();

function made(starts = done, stops = done) {
  const connections: FakeConnection[] = [];
  const states: string[] = [];
  const log: string[] = [];
  const clock = { now: 0 };
  const say = (text: string): void => void log.push(text);
  const wanted = { trusted: true };
  const server = new LanguageServer({
    find: () => Promise.resolve({ command: "python3", args: [], env: {} }),
    options: () => ({ trusted: wanted.trusted, settings: {} }),
    output: { error: say, warn: say, info: say } as unknown as vscode.LogOutputChannel,
    save: () => Promise.resolve({ saved: [], failed: [] }),
    asks: () => true,
    load: () =>
      Promise.resolve((connecting) => {
        const one = new FakeConnection(connecting, starts, stops);
        connections.push(one);
        return one;
      }),
    now: () => clock.now,
  });
  server.onState(({ state }) => states.push(state));
  let came = 0;
  server.onRunning(() => came++);
  const crash = async (): Promise<void> => {
    connections.at(-1)!.connecting.closed();
    await settle();
  };
  return { server, connections, states, log, clock, crash, wanted, came: () => came };
}

describe("the server", () => {
  it("is not started before it is wanted, and once for all who want it", async () => {
    const { server, connections, states, came } = made();
    expect(server.state).toEqual({ state: "stopped" });
    await Promise.all([server.start(), server.request("turnbuckle/models", {})]);
    expect(connections).toHaveLength(1);
    expect(states).toEqual(["starting", "running"]);
    expect(came()).toBe(1);
  });

  it("that ends without an answer leaves nobody waiting", async () => {
    const { server } = made();
    const never = server.request("turnbuckle/cancel", { sessionId: "s" });
    const refused = expect(never).rejects.toThrow("The server ended.");
    await settle();
    await server.restart();
    await refused;
    expect(await server.request("turnbuckle/models", {})).toBeTruthy();
  });

  it("that does not start says why, and is tried again when it is wanted again", async () => {
    let fails = true;
    const { server, connections, log } = made(() =>
      fails ? Promise.reject(new Error("no such module")) : Promise.resolve(),
    );
    await expect(server.start()).rejects.toThrow("no such module");
    expect(server.state).toEqual({ state: "failed", message: "no such module" });
    expect(log).toContain("no such module");
    expect(connections[0]!.stopped).toBe(1);
    fails = false;
    await server.request("turnbuckle/models", {});
    expect(server.state.state).toBe("running");
  });

  it("is started anew after a crash, with what holds now, and listeners hear the new one", async () => {
    const { server, connections, crash, wanted, came } = made();
    server.onValues("early", () => undefined);
    await server.start();
    server.onValues("late", () => undefined);
    wanted.trusted = false;
    await crash();
    expect(connections).toHaveLength(2);
    expect(connections[0]!.stopped).toBe(1);
    expect([...connections[1]!.listening]).toEqual(["early", "late"]);
    expect(connections[1]!.connecting.options.trusted).toBe(false);
    expect(came()).toBe(2);
  });

  it("that crashes again and again is left alone until the person starts it", async () => {
    const { server, connections, crash } = made();
    await server.start();
    for (let i = 0; i < CRASHES; i++) await crash();
    expect(connections).toHaveLength(CRASHES);
    expect(server.state).toMatchObject({
      state: "failed",
      message: expect.stringContaining("log"),
    });
    await server.restart();
    expect(server.state).toEqual({ state: "running" });
    await crash();
    expect(server.state).toEqual({ state: "running" });
  });

  it("may crash now and then", async () => {
    const { server, clock, crash } = made();
    await server.start();
    for (let i = 0; i < 3 * CRASHES; i++) {
      clock.now += CRASH_TIME / 2;
      await crash();
    }
    expect(server.state).toEqual({ state: "running" });
  });

  it("is started again only when the one before is gone", async () => {
    let gone = (): void => undefined;
    const { server, connections } = made(
      undefined,
      () => new Promise((resolve) => (gone = resolve)),
    );
    await server.start();
    const restarted = Promise.all([server.restart(), server.restart()]);
    await settle();
    expect(connections).toHaveLength(1);
    expect(server.state.state).toBe("stopped");
    gone();
    await restarted;
    expect(connections).toHaveLength(2);
    expect(connections[0]!.stopped).toBe(1);
  });

  it("that is restarted while it starts is never there twice", async () => {
    const open: (() => void)[] = [];
    const { server, connections } = made(() => new Promise((resolve) => open.push(resolve)));
    const first = server.start();
    await settle();
    const again = server.restart();
    await settle();
    expect(connections).toHaveLength(1);
    open[0]!();
    await first;
    await settle();
    expect(connections.map((one) => one.stopped)).toEqual([1, 0]);
    open[1]!();
    await again;
    expect(server.state.state).toBe("running");
  });

  it("ends with the window and is not started again", async () => {
    const { server, connections, crash } = made();
    await server.start();
    await server.close();
    expect(connections[0]!.stopped).toBe(1);
    await expect(server.request("turnbuckle/models", {})).rejects.toThrow();
    await crash();
    expect(connections).toHaveLength(1);
  });
});

describe("a trace", () => {
  it("holds no key", () => {
    const lines: string[] = [];
    const output = {
      trace: (text: string) => lines.push(text),
      info: (text: string) => lines.push(text),
    };
    const traced = withoutKeys(output as unknown as vscode.LogOutputChannel);
    traced.trace('Params: {\n  "provider": "x",\n  "key": "sk-\\"secret"\n}');
    traced.info("as before");
    expect(lines.join("\n")).not.toContain("secret");
    expect(lines).toEqual(['Params: {\n  "provider": "x",\n  "key": "…"\n}', "as before"]);
  });
});
