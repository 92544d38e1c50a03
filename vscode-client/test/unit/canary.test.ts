// A key is where it is used and nowhere else: it is looked for in all that the extension lets out.

import { beforeEach, describe, expect, it } from "vitest";
import type * as vscode from "vscode";
import { Credentials } from "../../src/host/credentials";
import { Bridge } from "../../src/host/panel/bridge";
import { withoutKeys } from "../../src/host/server/redact";
import { VERSION, type FromPanel, type SessionNote, type ToPanel } from "../../src/shared/messages";
import { FakeServer, FakeTime, settle } from "../fakes/server";
import { answers, asked, EventEmitter } from "../fakes/vscode";

const CANARY = "sk-CANARY-7f3a";

/** The extension's parts that a key passes, and everything that others can see of them. */
function made(takes = true) {
  const posts: ToPanel[] = [];
  const log: string[] = [];
  const remembered: unknown[] = [];
  const secrets = new Map<string, string>();
  const globalState = new Map<string, unknown>();
  const time = new FakeTime();
  const server = new FakeServer({
    "turnbuckle/models": () => ({
      models: [],
      providers: [{ provider: "acme", title: "Acme", baseUrl: "https://acme/v1", key: takes ? "memory" : "absent" }],
    }),
    "turnbuckle/credentials": () => {
      if (!takes) throw new Error(`no use for ${CANARY}`);
      return {};
    },
    "turnbuckle/session/open": () => ({ sessionId: "s", seq: 0, readOnly: false, config: {} }),
    "turnbuckle/session/events": () => ({ from: 0, seq: 0 }),
    "turnbuckle/session/events/stop": () => ({}),
  });
  const credentials = new Credentials(
    {
      get: (name: string) => Promise.resolve(secrets.get(name)),
      store: (name: string, value: string) => Promise.resolve(void secrets.set(name, value)),
      delete: (name: string) => Promise.resolve(void secrets.delete(name)),
    } as unknown as vscode.SecretStorage,
    {
      get: (name: string, otherwise: unknown) => globalState.get(name) ?? otherwise,
      update: (name: string, value: unknown) => Promise.resolve(void globalState.set(name, value)),
    } as unknown as vscode.Memento,
    server.server,
    (text) => log.push(text),
  );
  const sessions: SessionNote[] = [];
  const bridge = new Bridge((message) => posts.push(message), {
    server: server.server,
    settings: () => ({ sendKey: "enter", showThinking: "off", trusted: true, folders: [] }),
    sessions: { all: sessions, onChanged: new EventEmitter<void>().event },
    act: async (action) => {
      if (action.do === "connect") await credentials.ask();
    },
    remembered: () => undefined,
    remember: (id) => void remembered.push(id),
    reload: () => undefined,
    log: (text) => log.push(text),
    timer: time.timer,
  });
  const say = (message: unknown): void => bridge.receive(message as FromPanel);
  const seen = (): string => JSON.stringify([posts, log, remembered, [...globalState], asked]);
  return { say, seen, secrets, server, log, posts };
}

beforeEach(() => {
  asked.length = 0;
  answers.length = 0;
});

describe("a key that is given in the editor", () => {
  it("is in no message to the panel, no state, no log and no prompt", async () => {
    const { say, seen, secrets, server } = made();
    say({ type: "ready", version: VERSION });
    await settle();
    answers.push("Acme", CANARY);
    say({ type: "do", action: { do: "connect" } });
    await settle();
    server.comeBack();
    await settle();
    say({ type: "call", id: 1, method: "turnbuckle/models", params: {} });
    await settle();
    expect([...secrets.values()]).toEqual([CANARY]);
    expect(server.count("turnbuckle/credentials")).toBe(2);
    expect(seen()).not.toContain(CANARY);
  });

  it("is not repeated by what says that it was refused, now and after a start", async () => {
    const { say, seen, secrets, server, log } = made(false);
    say({ type: "ready", version: VERSION });
    await settle();
    answers.push("Acme", CANARY);
    say({ type: "do", action: { do: "connect" } });
    await settle();
    expect(log).toHaveLength(1);
    secrets.set("turnbuckle.key.acme", CANARY);
    server.comeBack();
    await settle();
    expect(seen()).not.toContain(CANARY);
  });

  it("can neither be asked for nor set by the panel", async () => {
    const { say, seen, server, posts } = made();
    say({ type: "ready", version: VERSION });
    await settle();
    say({ type: "call", id: 7, method: "turnbuckle/credentials", params: { provider: "acme", key: "x" } });
    await settle();
    expect(posts.at(-1)).toMatchObject({ type: "refused", id: 7 });
    expect(server.count("turnbuckle/credentials")).toBe(0);
    expect(seen()).not.toContain(CANARY);
  });
});

describe("what is traced into the output channel", () => {
  const traced = (text: string): string => {
    const lines: unknown[] = [];
    const output = { trace: (...said: unknown[]) => void lines.push(said) } as unknown as vscode.LogOutputChannel;
    withoutKeys(output).trace(text);
    return JSON.stringify(lines);
  };

  it.each([
    JSON.stringify({ provider: "acme", key: CANARY }),
    JSON.stringify({ provider: "acme", key: CANARY }, null, 4),
    JSON.stringify({ key: `"quoted\\" ${CANARY}` }),
    JSON.stringify({ settings: { model: { base_url: `https://me:${CANARY}@host/v1` } } }),
    JSON.stringify({ settings: { model: { base_url: `https://${CANARY}@host/v1` } } }),
    JSON.stringify({ settings: { model: { base_url: `https://host/v1?sig=${CANARY}` } } }, null, 2),
  ])("holds no key: %s", (text) => {
    expect(traced(`Sending request 'x'.\nParams: ${text}\n`)).not.toContain("CANARY");
  });

  it("is otherwise as it was", () => {
    const text = JSON.stringify({ uri: "file:///work/a@b.py", url: "https://host/a?b=c", text: "mail me@host" });
    expect(traced(text)).toBe(JSON.stringify([[text]]));
  });
});
