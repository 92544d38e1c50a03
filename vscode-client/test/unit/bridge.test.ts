import { describe, expect, it } from "vitest";
import { Bridge } from "../../src/host/panel/bridge";
import type { Host } from "../../src/host/panel/host";
import { FIRST } from "../../src/host/panel/takeover";
import { PATIENCE, PING } from "../../src/host/panel/watchdog";
import { GATHER } from "../../src/host/panel/batcher";
import {
  VERSION,
  type Action,
  type SessionNote,
  type ToPanel,
  type Value,
} from "../../src/shared/messages";
import { FakeServer, FakeTime, settle } from "../fakes/server";
import { EventEmitter } from "../fakes/vscode";

const fact = (seq: number, type = "turn/start", data: unknown = { turn: 1 }): Value =>
  ({ seq, time: 0, type, data }) as unknown as Value;

function bridge(answers: Record<string, (params: never) => unknown> = {}, remembered?: string) {
  const time = new FakeTime();
  const posts: ToPanel[] = [];
  const done: Action[] = [];
  const log: string[] = [];
  const state = { reloads: 0, remembered };
  const server = new FakeServer({
    "turnbuckle/session/open": ({ sessionId = "new" }: { sessionId?: string }) => ({
      sessionId,
      seq: 5,
      readOnly: false,
      config: {},
    }),
    "turnbuckle/session/events": () => ({ from: 2, seq: 5 }),
    "turnbuckle/session/events/stop": () => ({}),
    ...answers,
  });
  const sessions: SessionNote[] = [];
  const sessionsChanged = new EventEmitter<void>();
  const host: Host = {
    server: server.server,
    settings: () => ({ sendKey: "enter", showThinking: "off", trusted: true, folders: [] }),
    sessions: { all: sessions, onChanged: sessionsChanged.event },
    act: (action) => Promise.resolve(void done.push(action)),
    remembered: () => state.remembered,
    remember: (id) => {
      state.remembered = id;
    },
    reload: () => {
      state.reloads++;
    },
    log: (text) => log.push(text),
    timer: time.timer,
  };
  const made = new Bridge((message) => posts.push(message), host);
  const ready = async (sessionId?: string): Promise<void> => {
    made.receive({
      type: "ready",
      version: VERSION,
      ...(sessionId === undefined ? {} : { sessionId }),
    });
    await settle();
  };
  const of = <T extends ToPanel["type"]>(type: T) =>
    posts.filter((post): post is Extract<ToPanel, { type: T }> => post.type === type);
  return { made, server, posts, of, time, done, log, state, ready, sessions, sessionsChanged };
}

describe("a panel that is ready", () => {
  it("is greeted, and shown the session that was shown before", async () => {
    const { of, ready, server } = bridge({}, "before");
    await ready();
    expect(of("hello")).toHaveLength(1);
    expect(of("session")).toMatchObject([{ session: { sessionId: "before", from: 2 } }]);
    expect(server.asked.at(-1)).toMatchObject({ params: { sessionId: "before", turns: 20 } });
  });

  it("of another version is loaded again", async () => {
    const { made, state } = bridge();
    made.receive({ type: "ready", version: 99 });
    await settle();
    expect(state.reloads).toBe(1);
  });

  it("gets a new session where the one before is gone", async () => {
    const { of, ready } = bridge(
      {
        "turnbuckle/session/open": ({ sessionId }: { sessionId?: string }) => {
          if (sessionId !== undefined) throw Object.assign(new Error("none"), { code: -32803 });
          return { sessionId: "new", seq: -1, readOnly: false, config: {} };
        },
      },
      "gone",
    );
    await ready();
    expect(of("session")).toMatchObject([{ session: { sessionId: "new" } }]);
  });

  it("gets values in order, also those that came before the answer", async () => {
    const { of, ready, server, time } = bridge({
      "turnbuckle/session/events": () => {
        server.send("panel", fact(2), fact(3));
        return { from: 2, seq: 5 };
      },
    });
    await ready();
    server.send("panel", fact(4));
    time.pass(GATHER);
    expect(of("values").flatMap((post) => post.values)).toMatchObject([
      { seq: 2 },
      { seq: 3 },
      { seq: 4 },
    ]);
    expect(of("session")).toHaveLength(1);
  });
});

describe("what goes on in other sessions", () => {
  it("is told at first, and whenever it changes", async () => {
    const { of, ready, sessions, sessionsChanged } = bridge();
    sessions.push({ sessionId: "other", state: "running" });
    sessionsChanged.fire();
    expect(of("sessions")).toEqual([]); // nobody listens yet
    await ready();
    expect(of("sessions")).toEqual([
      { type: "sessions", sessions: [{ sessionId: "other", state: "running" }] },
    ]);
    sessions[0] = { sessionId: "other", state: "waiting" };
    sessionsChanged.fire();
    expect(of("sessions").at(-1)?.sessions).toEqual([{ sessionId: "other", state: "waiting" }]);
  });
});

describe("a session", () => {
  it("that is left is not listened to any longer", async () => {
    const { made, server, ready, time, of } = bridge();
    await ready("one");
    made.receive({ type: "show", sessionId: "two" });
    await settle();
    expect(server.tokens).toHaveLength(1);
    expect(server.count("turnbuckle/session/events/stop")).toBe(1);
    server.send("panel", fact(9));
    time.pass(GATHER);
    expect(of("values").map((post) => post.sessionId)).toEqual(["two"]);
  });

  it("stays where the one that was chosen cannot be opened", async () => {
    const { made, server, ready, of, time } = bridge({
      "turnbuckle/session/open": ({ sessionId }: { sessionId?: string }) => {
        if (sessionId === "gone") throw Object.assign(new Error("none"), { code: -32803 });
        return { sessionId, seq: 5, readOnly: false, config: {} };
      },
    });
    await ready("one");
    made.receive({ type: "show", sessionId: "gone" });
    await settle();
    expect(of("refused")).toMatchObject([{ message: "none" }]);
    server.send("panel", fact(9));
    time.pass(GATHER);
    expect(of("values").at(-1)).toMatchObject({ sessionId: "one", values: [{ seq: 9 }] });
  });

  it("is opened once a server runs, where none started at first", async () => {
    let starts = false;
    const { server, ready, of } = bridge({
      "turnbuckle/session/open": () => {
        if (!starts) throw new Error("no Python");
        return { sessionId: "new", seq: -1, readOnly: false, config: {} };
      },
    });
    await ready();
    expect(of("session")).toEqual([]);
    starts = true;
    server.comeBack();
    await settle();
    expect(of("session")).toMatchObject([{ session: { sessionId: "new" } }]);
  });

  it("is told anew when the server came back", async () => {
    const { server, ready, of } = bridge();
    await ready("one");
    server.comeBack();
    await settle();
    expect(of("session")).toHaveLength(2);
  });

  it("costs nothing while nobody sees the panel, and is told anew then", async () => {
    const { made, server, ready, of, time } = bridge();
    await ready("one");
    made.setVisible(false);
    server.send("panel", fact(6), fact(7));
    time.pass(1000);
    expect(of("values")).toEqual([]);
    made.setVisible(true);
    await ready();
    expect(of("session")).toHaveLength(2);
  });

  it("is told anew, too, to a page that was only out of sight", async () => {
    const { made, ready, of } = bridge();
    await ready("one");
    made.setVisible(false);
    made.setVisible(true);
    made.receive({ type: "pong", at: 0 });
    await settle();
    expect(of("session")).toHaveLength(2);
  });

  it("gets what was added while its page was thrown away", async () => {
    const { made, ready, of } = bridge();
    await ready("one");
    made.setVisible(false);
    made.addChips([{ id: "c", kind: "file", label: "a.py", detail: "a.py" }]);
    expect(of("chips")).toEqual([]);
    made.setVisible(true);
    await ready("one");
    expect(of("chips")).toHaveLength(1);
  });

  it("that was shown last is what a page is shown, whatever the page kept", async () => {
    const { ready, of } = bridge({}, "newer");
    await ready("older");
    expect(of("session")).toMatchObject([{ session: { sessionId: "newer" } }]);
  });

  it("that the page kept is shown where the one shown last is gone", async () => {
    const gone = Object.assign(new Error("gone"), { code: -32803 });
    const { ready, of } = bridge(
      {
        "turnbuckle/session/open": ({ sessionId }: { sessionId?: string }) => {
          if (sessionId === "gone") throw gone;
          return { sessionId, seq: 5, readOnly: false, config: {} };
        },
      },
      "gone",
    );
    await ready("kept");
    expect(of("session")).toMatchObject([{ session: { sessionId: "kept" } }]);
  });

  it("is asked for once where no server answers", async () => {
    const { ready, of, server } = bridge(
      {
        "turnbuckle/session/open": () => {
          throw new Error("there is no Python");
        },
      },
      "one",
    );
    await ready("other");
    expect(server.count("turnbuckle/session/open")).toBe(1);
    expect(of("refused")).toMatchObject([{ id: -1, message: "there is no Python" }]);
  });
});

describe("a new session", () => {
  function creating() {
    let made = 0;
    return bridge({
      "turnbuckle/session/open": ({ sessionId = `new-${++made}` }: { sessionId?: string }) => ({
        sessionId,
        seq: -1,
        readOnly: false,
        config: {},
      }),
      "turnbuckle/turn": () => ({}),
    });
  }
  const ids = (posts: { session: { sessionId: string } }[]): string[] =>
    posts.map((one) => one.session.sessionId);

  it("is the one that is shown where nothing was sent to it before", async () => {
    const { made, ready, of } = creating();
    const starting = ready();
    made.receive({ type: "show" });
    await starting;
    made.receive({ type: "call", id: 1, method: "turnbuckle/turn", params: {} });
    await settle();
    expect(new Set(ids(of("session")))).toEqual(new Set(["new-1"]));
  });

  it("is another one once something was sent, or for another folder", async () => {
    const { made, ready, of, server } = creating();
    await ready();
    made.receive({ type: "call", id: 1, method: "turnbuckle/turn", params: {} });
    made.receive({ type: "show" });
    await settle();
    made.receive({ type: "show", folder: "file:///other" });
    await settle();
    server.send("panel", fact(0));
    made.receive({ type: "show", folder: "file:///other" });
    await settle();
    expect(ids(of("session"))).toEqual(["new-1", "new-2", "new-3", "new-4"]);
  });
});

describe("a session that another server writes", () => {
  function held(writer: { lives: boolean }, kind = "readOnly") {
    return bridge({
      "turnbuckle/session/open": () => ({
        sessionId: "s",
        seq: 5,
        readOnly: writer.lives,
        config: {},
      }),
      "turnbuckle/inbox/edit": () => {
        if (writer.lives) throw Object.assign(new Error("held"), { code: -32803, data: { kind } });
        return { changed: false };
      },
    });
  }

  it("is taken over as soon as that is gone, and shown anew", async () => {
    const writer = { lives: true };
    const { ready, of, time, server } = held(writer);
    await ready("s");
    expect(of("session")).toMatchObject([{ session: { readOnly: true } }]);
    time.pass(FIRST);
    await settle();
    expect(of("session")).toHaveLength(1);
    writer.lives = false;
    time.pass(2 * FIRST);
    await settle();
    expect(of("session").at(-1)).toMatchObject({ session: { readOnly: false } });
    time.pass(60_000);
    await settle();
    expect(server.count("turnbuckle/inbox/edit")).toBe(2);
  });

  it("is left alone where nothing may run, and while nobody sees it", async () => {
    const untrusted = held({ lives: true }, "untrusted");
    await untrusted.ready("s");
    untrusted.time.pass(FIRST);
    await settle();
    untrusted.time.pass(60_000);
    await settle();
    expect(untrusted.server.count("turnbuckle/inbox/edit")).toBe(1);
    const hidden = held({ lives: true });
    await hidden.ready("s");
    hidden.made.setVisible(false);
    hidden.time.pass(60_000);
    await settle();
    expect(hidden.server.count("turnbuckle/inbox/edit")).toBe(0);
  });
});

describe("a call", () => {
  it("is passed on and answered once", async () => {
    const { made, of, ready } = bridge({ "turnbuckle/models": () => ({ models: [] }) });
    await ready();
    made.receive({ type: "call", id: 7, method: "turnbuckle/models", params: {} });
    await settle();
    expect(of("answer")).toEqual([{ type: "answer", id: 7, result: { models: [] } }]);
  });

  it("that the panel may not make is refused, and not passed on", async () => {
    const { made, of, server, ready } = bridge();
    await ready();
    made.receive({
      type: "call",
      id: 8,
      method: "turnbuckle/credentials" as never,
      params: { key: "x" },
    });
    await settle();
    expect(of("refused")).toMatchObject([{ id: 8 }]);
    expect(server.count("turnbuckle/credentials")).toBe(0);
  });

  it("waits for the session that it is about, and goes to what stands for an empty one", async () => {
    // Nothing is written down of them: a server knows none that another one opened.
    const ids = ["s1", "s2"];
    const { made, of, ready, server } = bridge({
      "turnbuckle/session/open": ({ sessionId }: { sessionId?: string }) => {
        if (sessionId !== undefined) throw Object.assign(new Error("none"), { code: -32803 });
        return { sessionId: ids.shift(), seq: -1, readOnly: false, config: {} };
      },
      "turnbuckle/turn": () => ({ turn: 1 }),
    });
    await ready();
    server.comeBack();
    const params = { sessionId: "s1", key: "k", input: [] };
    made.receive({ type: "call", id: 3, method: "turnbuckle/turn", params });
    await settle();
    expect(of("session").at(-1)).toMatchObject({ session: { sessionId: "s2" }, instead: "s1" });
    expect(server.asked.at(-1)).toMatchObject({
      method: "turnbuckle/turn",
      params: { sessionId: "s2", key: "k" },
    });
    expect(of("answer")).toHaveLength(1);
  });

  it("is refused, and not passed on, where no server starts", async () => {
    const { made, of, ready, server } = bridge({ "turnbuckle/models": () => ({ models: [] }) });
    await ready();
    server.start = () => Promise.reject(new Error("no Python"));
    made.receive({ type: "call", id: 7, method: "turnbuckle/models", params: {} });
    await settle();
    expect(of("refused")).toMatchObject([{ id: 7, message: "no Python" }]);
    expect(server.count("turnbuckle/models")).toBe(0);
  });

  it("that the server refuses comes back with its kind", async () => {
    const { made, of, ready } = bridge({
      "turnbuckle/session/compact": () => {
        throw Object.assign(new Error("a turn runs"), { code: -32803, data: { kind: "busy" } });
      },
    });
    await ready();
    made.receive({
      type: "call",
      id: 9,
      method: "turnbuckle/session/compact",
      params: { sessionId: "s" },
    });
    await settle();
    expect(of("refused")).toMatchObject([
      { id: 9, code: -32803, kind: "busy", message: "a turn runs" },
    ]);
  });
});

describe("a panel that hangs", () => {
  it("is loaded again when it does not answer", async () => {
    const { state, ready, time } = bridge();
    await ready();
    time.pass(PING + PATIENCE);
    expect(state.reloads).toBe(1);
  });

  it("is left alone while it answers, and while it is hidden", async () => {
    const { made, state, ready, time, of } = bridge();
    await ready();
    for (let i = 0; i < 5; i++) {
      time.pass(PING);
      made.receive({ type: "pong", at: of("ping").at(-1)!.at });
    }
    made.setVisible(false);
    time.pass(10 * (PING + PATIENCE));
    expect(state.reloads).toBe(0);
  });
});
