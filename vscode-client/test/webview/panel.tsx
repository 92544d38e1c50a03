// The real panel in a page of jsdom, with a host that writes down what it is told.

import axe from "axe-core";
import { render } from "preact";
import { act } from "preact/test-utils";
import { expect } from "vitest";
import denied from "../fixtures/denied.json";
import failed from "../fixtures/failed.json";
import fix from "../fixtures/fix.json";
import stopped from "../fixtures/stopped.json";
import { App } from "../../src/panel/app";
import type { Kept } from "../../src/panel/api";
import { Store } from "../../src/panel/store";
import type {
  Call,
  FromPanel,
  PanelSettings,
  ShownSession,
  ToPanel,
  Value,
} from "../../src/shared/messages";
import type { Facts } from "../../src/wire/types";

export const SETTINGS: PanelSettings = {
  sendKey: "enter",
  showThinking: "collapsed",
  trusted: true,
  folders: [{ name: "work", uri: "file:///work" }],
};

export const LIVE: Value = { type: "live", data: { seq: 0 } };

// The same sessions are recorded, and compared, by tests/lsp/test_fixtures.py.
const FIXTURES = { fix, denied, stopped, failed } as unknown as Record<string, Value[]>;

export function fixture(name: "fix" | "denied" | "stopped" | "failed"): Value[] {
  const found = FIXTURES[name];
  if (!found) throw new Error(`there is no fixture ${name}`);
  return structuredClone(found);
}

/** The values up to the nth of this type, that one included. */
export function until(values: Value[], type: string, nth = 1): Value[] {
  let seen = 0;
  return values.slice(0, values.findIndex((value) => value.type === type && ++seen === nth) + 1);
}

export function fact<T extends keyof Facts>(seq: number, type: T, data: Facts[T]): Value {
  return { seq, time: 1_700_000_000_000, type, data } as Value;
}

export interface Mounted {
  store: Store;
  sent: FromPanel[];
  kept: Kept;
  root: HTMLElement;
  say(...messages: ToPanel[]): Promise<void>;
  show(values: Value[], session?: Partial<ShownSession>): Promise<void>;
  more(...values: Value[]): Promise<void>;
  calls(method: Call): Record<string, unknown>[];
  answer(method: Call, result: unknown): Promise<void>;
  /** Say that the last such call is not granted, for there is "no room". */
  refuse(method: Call): Promise<void>;
  done(kind: string): Extract<FromPanel, { type: "do" }>["action"][];
  button(label: string | RegExp, within?: ParentNode): HTMLButtonElement;
  click(element: Element): Promise<void>;
  key(element: Element, key: string, init?: KeyboardEventInit): Promise<KeyboardEvent>;
  type(text: string, field?: HTMLInputElement | HTMLTextAreaElement): Promise<void>;
  field: HTMLTextAreaElement;
}

/** A panel that was greeted by its host; nothing is shown in it yet. */
export async function mount(
  kept: Kept = {},
  settings: Partial<PanelSettings> = {},
): Promise<Mounted> {
  document.body.replaceChildren();
  document.documentElement.lang = "en";
  document.title = "Panel";
  const root = document.createElement("div");
  document.body.append(root);
  const sent: FromPanel[] = [];
  const state = { kept };
  const api = {
    postMessage: (message: FromPanel) => void sent.push(message),
    getState: () => state.kept,
    setState: (changed: Kept) => {
      state.kept = changed;
    },
  };
  const store = new Store(api, (draw) => draw());
  await act(() => render(<App store={store} />, root));
  store.start();
  let batch = 0;
  const say = (...messages: ToPanel[]): Promise<void> =>
    act(async () => {
      for (const message of messages) store.receive(message);
      await turn();
    });
  const values = (list: Value[]): ToPanel => ({
    type: "values",
    sessionId: store.view.session?.sessionId ?? "s",
    batch: ++batch,
    values: list,
  });
  const calls = (method: Call) =>
    sent.filter((one) => one.type === "call" && one.method === method) as Extract<
      FromPanel,
      { type: "call" }
    >[];
  const mounted: Mounted = {
    store,
    sent,
    root,
    say,
    get kept() {
      return state.kept;
    },
    get field() {
      return root.querySelector<HTMLTextAreaElement>(".composer textarea")!;
    },
    show: async (list, session = {}) => {
      const config = { model: "m", provider: "p", window: 8000 };
      const shown = { sessionId: "s", seq: -1, from: 0, readOnly: false, config, ...session };
      await say({ type: "session", session: shown });
      await say(values(list));
    },
    more: (...list) => say(values(list)),
    calls: (method) => calls(method).map((one) => one.params),
    answer: (method, result) => say({ type: "answer", id: calls(method).at(-1)!.id, result }),
    refuse: (method) => {
      const { id } = calls(method).at(-1)!;
      return say({ type: "refused", id, code: -32803, message: "no room" });
    },
    done: (kind) =>
      sent
        .filter((one): one is Extract<FromPanel, { type: "do" }> => one.type === "do")
        .map((one) => one.action)
        .filter((action) => action.do === kind),
    button: (label, within = root) => {
      const found = [...within.querySelectorAll<HTMLButtonElement>("button")].find((button) => {
        const name = button.getAttribute("aria-label") ?? button.textContent?.trim() ?? "";
        return typeof label === "string" ? name === label : label.test(name);
      });
      if (!found) throw new Error(`there is no button ${label}: ${root.textContent}`);
      return found;
    },
    click: (element) =>
      act(async () => {
        (element as HTMLElement).click();
        await turn();
      }),
    key: async (element, key, init = {}) => {
      const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...init });
      await act(async () => {
        element.dispatchEvent(event);
        await turn();
      });
      return event;
    },
    type: (text, field = mounted.field) =>
      act(() => {
        field.value = text;
        field.dispatchEvent(new InputEvent("input", { bubbles: true }));
      }),
  };
  await say({
    type: "hello",
    version: 1,
    settings: { ...SETTINGS, ...settings },
    server: { state: "running" },
  });
  return mounted;
}

/** All that was queued has run: answers that are passed on, and what a page tells of its cards. */
function turn(): Promise<void> {
  return new Promise((done) => setTimeout(done));
}

/** A panel in which a turn runs. */
export async function busy(settings: Partial<PanelSettings> = {}): Promise<Mounted> {
  const panel = await mount({}, settings);
  await panel.show([LIVE, ...until(fixture("fix"), "llm/stream")]);
  return panel;
}

/** No violation of what a page can be checked for without being drawn. */
export async function expectAccessible(): Promise<void> {
  const { violations } = await axe.run(document.body, {
    // Colours are those of the editor's theme; a webview is one region of a bigger page.
    rules: { "color-contrast": { enabled: false } },
  });
  expect(
    violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" | ")}`),
  ).toEqual([]);
}
