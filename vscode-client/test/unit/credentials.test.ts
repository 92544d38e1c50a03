import { beforeEach, describe, expect, it } from "vitest";
import type * as vscode from "vscode";
import { Credentials } from "../../src/host/credentials";
import { FakeServer, settle } from "../fakes/server";
import { answers, asked } from "../fakes/vscode";

const SECRET = "sk-very-secret";

function made(takes = true) {
  const secrets = new Map<string, string>();
  const names = new Map<string, unknown>();
  const log: string[] = [];
  const server = new FakeServer({
    "turnbuckle/models": () => ({
      models: [],
      providers: [
        { provider: "acme", title: "Acme", baseUrl: "https://acme/v1", key: "absent" },
        { provider: "local", title: "Local", baseUrl: "http://127.0.0.1/v1", key: "needless" },
      ],
    }),
    "turnbuckle/credentials": () => {
      if (!takes) throw new Error(`not ${SECRET}`);
      return {};
    },
  });
  const storage = {
    get: (name: string) => Promise.resolve(secrets.get(name)),
    store: (name: string, value: string) => Promise.resolve(void secrets.set(name, value)),
    delete: (name: string) => Promise.resolve(void secrets.delete(name)),
  };
  const memento = {
    get: (name: string, otherwise: unknown) => names.get(name) ?? otherwise,
    update: (name: string, value: unknown) => Promise.resolve(void names.set(name, value)),
  };
  const credentials = new Credentials(
    storage as unknown as vscode.SecretStorage,
    memento as unknown as vscode.Memento,
    server.server,
    (text) => log.push(text),
  );
  const given = () =>
    server.asked.filter((one) => one.method === "turnbuckle/credentials").map((one) => one.params);
  return { credentials, server, secrets, names, log, given };
}

beforeEach(() => {
  asked.length = 0;
  answers.length = 0;
});

describe("a key", () => {
  it("is kept in the secret storage alone, and handed over after each start", async () => {
    const { credentials, server, secrets, names, log, given } = made();
    answers.push("Acme", ` ${SECRET}\n`);
    expect(await credentials.ask()).toBe(true);
    expect([...secrets.values()]).toEqual([SECRET]);
    expect(given()).toEqual([{ provider: "acme", key: SECRET }]);
    server.comeBack();
    await settle();
    expect(given()).toEqual([
      { provider: "acme", key: SECRET },
      { provider: "acme", key: SECRET },
    ]);
    const elsewhere = JSON.stringify([[...names], log, asked]);
    expect(elsewhere).not.toContain(SECRET);
  });

  it("is asked of providers that need one", async () => {
    const { credentials } = made();
    answers.push(undefined);
    expect(await credentials.ask()).toBe(false);
    expect(asked).toMatchObject([{ kind: "pick", choices: ["Acme"] }]);
  });

  it("that the server refuses is not kept, nor is one that is not given", async () => {
    const refusing = made(false);
    answers.push("Acme", SECRET);
    await expect(refusing.credentials.ask()).rejects.toThrow();
    expect(refusing.secrets.size).toBe(0);
    const dismissed = made();
    answers.push("Acme", undefined);
    expect(await dismissed.credentials.ask()).toBe(false);
    expect(dismissed.given()).toEqual([]);
  });

  it("that is not taken after a start is told without itself", async () => {
    const { server, secrets, names, log } = made(false);
    secrets.set("turnbuckle.key.acme", SECRET);
    names.set("turnbuckle.keys", ["acme"]);
    server.comeBack();
    await settle();
    expect(log).toHaveLength(1);
    expect(log[0]).not.toContain(SECRET);
  });

  it("is forgotten everywhere, and no server is started for that", async () => {
    const { credentials, server, secrets, given } = made();
    answers.push("Acme", SECRET);
    await credentials.ask();
    await credentials.clear();
    expect(secrets.size).toBe(0);
    expect(given().at(-1)).toEqual({ provider: "acme" });
    answers.push("Acme", SECRET);
    await credentials.ask();
    server.state = { state: "stopped" };
    const before = given().length;
    await credentials.clear();
    expect(given()).toHaveLength(before);
    server.comeBack();
    await settle();
    expect(given()).toHaveLength(before);
  });
});
