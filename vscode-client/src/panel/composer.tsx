// Where the person writes: the message, what it points at, the model, and how full the context is.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Chip } from "../shared/messages";
import type { ModelEntry } from "../wire/types";
import { useStore, useView } from "./app";
import { matching, run, type SlashCommand } from "./slash";
import { Refused, type Store } from "./store";
import { Icon, IconButton } from "./widgets";

/** The most that the field grows to, in pixels. */
const TALLEST = 240;

export function Composer() {
  const store = useStore();
  const view = useView();
  const { draft, settings, state } = view;
  const field = useRef<HTMLTextAreaElement>(null);
  const [mention, setMention] = useState<Chip[]>([]);
  const [at, setAt] = useState(0);
  const slashes = draft.startsWith("/") && !draft.includes("\n") ? matching(draft) : [];
  const busy = state.running !== undefined;

  useEffect(() => store.onFocus(() => field.current?.focus()), [store]);
  useLayoutEffect(() => grow(field.current), [draft]);

  const write = (text: string, caret: number): void => {
    store.compose(text);
    const word = /(?:^|\s)@(\S*)$/.exec(text.slice(0, caret))?.[1];
    if (word === undefined) return setMention([]);
    void store.findFiles(word).then((chips) => {
      setMention(chips.slice(0, 8));
      setAt(0);
    });
  };
  const choose = (chip: Chip): void => {
    const caret = field.current?.selectionStart ?? draft.length;
    store.addChips([chip]);
    store.compose(draft.slice(0, caret).replace(/@\S*$/, "") + draft.slice(caret));
    setMention([]);
    field.current?.focus();
  };
  const submit = (steer: boolean): void => {
    const command = slashes[at] ?? slashes[0];
    if (command && draft.startsWith("/")) {
      store.compose("");
      void run(command, store);
    } else if (draft.trim() && settings.trusted) {
      store.whenShown(() => send(store, store.view.draft, steer));
    }
  };
  const key = (event: KeyboardEvent): void => {
    // While letters are composed, Enter belongs to the input method.
    if (event.isComposing || event.keyCode === 229) return;
    const list = mention.length || slashes.length;
    if (list && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      setAt((at + (event.key === "ArrowDown" ? 1 : list - 1)) % list);
    } else if (mention.length && (event.key === "Enter" || event.key === "Tab")) {
      event.preventDefault();
      choose(mention[at] ?? mention[0]!);
    } else if (event.key === "Escape" && mention.length) {
      event.stopPropagation();
      setMention([]);
    } else if (event.key === "Enter" && sends(event, settings.sendKey)) {
      event.preventDefault();
      submit(event.altKey);
    }
  };
  return (
    <section class="composer-frame" aria-label="Message" {...dropping(store)}>
      <StateLine />
      <Waiting />
      <div class="composer">
        <div class="chips">
          <button type="button" class="chip add" onClick={() => store.do({ do: "addContext" })}>
            <Icon name="add" /> Context
          </button>
          {view.chips.map((chip) => (
            <span class="chip" key={chip.id} title={chip.detail}>
              {chip.label}
              <IconButton icon="close" label={`Remove ${chip.label}`} onClick={() => store.removeChip(chip.id)} />
            </span>
          ))}
        </div>
        <textarea
          ref={field}
          rows={1}
          aria-label="Message to the agent"
          aria-controls="composer-list"
          placeholder={busy ? "Queue the next message, or steer with Alt+Enter" : "Ask, or say what to change"}
          value={draft}
          disabled={!settings.trusted}
          onInput={(event) => write(event.currentTarget.value, event.currentTarget.selectionStart)}
          onKeyDown={key}
        />
        <Choices mention={mention} slashes={slashes} at={at} choose={choose} run={(one) => { store.compose(""); void run(one, store); }} />
        <div class="composer-foot">
          <ModelPicker />
          <Meter />
          <button
            type="button"
            class="send"
            aria-label={busy ? "Queue" : "Send"}
            title={busy ? "Queue (Alt+Enter steers the running turn)" : "Send"}
            disabled={!draft.trim() || !settings.trusted}
            onClick={() => submit(false)}
          >
            <Icon name="arrow-up" />
          </button>
        </div>
      </div>
    </section>
  );
}

function sends(event: KeyboardEvent, sendKey: "enter" | "ctrlEnter"): boolean {
  if (event.shiftKey) return false;
  const control = event.ctrlKey || event.metaKey;
  return sendKey === "enter" || control || event.altKey;
}

function grow(field: HTMLTextAreaElement | null): void {
  if (!field) return;
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight, TALLEST)}px`;
}

/** Send what is written; it comes back into the field if it was not taken. */
function send(store: Store, draft: string, steer: boolean): void {
  const { session, chips } = store.view;
  if (!session || !draft.trim()) return;
  store.compose("");
  store.clearChips();
  const params = {
    sessionId: session.sessionId,
    key: crypto.randomUUID(),
    input: [{ type: "text" as const, text: draft }],
    context: chips.map(({ kind, uri, range, version, text }) => ({
      kind,
      ...(uri === undefined ? {} : { uri }),
      ...(range === undefined ? {} : { range }),
      ...(version === undefined ? {} : { version }),
      ...(text === undefined ? {} : { text }),
    })),
    whenBusy: steer ? ("steer" as const) : ("queue" as const),
  };
  store.call("turnbuckle/turn", params).catch((error: unknown) => {
    if (error instanceof Refused && (error.kind === "dropped" || error.code === -32800)) return;
    store.setProblem(error instanceof Error ? error.message : String(error));
    const entered = store.view.state.items.some((item) => item.kind === "user" && item.key === params.key);
    if (!entered && !store.view.draft) {
      store.compose(draft);
      store.addChips(chips);
    }
  });
}

/** One line that is always there, so that nothing jumps: what goes on, and how to stop it. */
function StateLine() {
  const store = useStore();
  const { state, server, session } = useView();
  const { running, open, status } = state;
  const stop = (): void => {
    if (session) void store.ask("turnbuckle/cancel", { sessionId: session.sessionId, keepQueue: true });
  };
  const text = open.length
    ? open.length === 1 ? "Waiting for your answer" : `${open.length} questions wait for your answer`
    : status ? status.text
    : running ? `Working · step ${Math.max(1, running.step)}`
    : server.state === "starting" ? "Starting…"
    : "";
  return (
    <div class={`state-line${open.length ? " waits" : running ? " runs" : ""}`}>
      {text && <span class="dot" aria-hidden="true" />}
      <span class="state-text">{text}</span>
      {running && (
        <button type="button" class="button link" onClick={stop}>
          Stop
        </button>
      )}
    </div>
  );
}

function Waiting() {
  const store = useStore();
  const { state, session } = useView();
  if (!state.waiting.length || !session || !state.running) return null;
  const { sessionId } = session;
  const drop = (key: string): Promise<unknown> =>
    store.ask("turnbuckle/inbox/edit", { sessionId, key, remove: true });
  const edit = async (key: string, text: string): Promise<void> => {
    await drop(key);
    store.compose(text);
  };
  return (
    <ul class="waiting" aria-label="Messages that wait">
      {state.waiting.map((one) => (
        <li key={one.key}>
          <Icon name={one.target === "step" ? "debug-step-into" : "clock"} />
          <span class="waiting-text" title={one.text}>{one.text}</span>
          <IconButton icon="edit" label="Edit this waiting message" onClick={() => void edit(one.key, one.text)} />
          <IconButton icon="close" label="Drop this waiting message" onClick={() => void drop(one.key)} />
        </li>
      ))}
    </ul>
  );
}

function Choices(props: {
  mention: Chip[];
  slashes: SlashCommand[];
  at: number;
  choose: (chip: Chip) => void;
  run: (command: SlashCommand) => void;
}) {
  const { mention, slashes, at } = props;
  if (!mention.length && !slashes.length) return <div id="composer-list" hidden />;
  return (
    <div id="composer-list" class="completions" role="listbox" aria-label="Suggestions">
      {mention.map((chip, index) => (
        <div role="option" aria-selected={index === at} key={chip.id} onMouseDown={(event) => { event.preventDefault(); props.choose(chip); }}>
          <b>{chip.label}</b> <span class="muted">{chip.detail}</span>
        </div>
      ))}
      {!mention.length && slashes.map((command, index) => (
        <div role="option" aria-selected={index === at} key={command.name} onMouseDown={(event) => { event.preventDefault(); props.run(command); }}>
          <b>/{command.name}</b> <span class="muted">{command.says}</span>
        </div>
      ))}
    </div>
  );
}

function ModelPicker() {
  const store = useStore();
  const { session, state } = useView();
  const [models, setModels] = useState<ModelEntry[]>([]);
  const current = state.model ?? session?.config.model ?? "";
  const load = async (): Promise<void> => setModels((await store.ask("turnbuckle/models", {}))?.models ?? []);
  const pick = (model: string): void => {
    if (session) void store.ask("turnbuckle/session/configure", { sessionId: session.sessionId, model });
  };
  const names = models.some((one) => one.name === current) || !current ? models : [{ name: current } as ModelEntry, ...models];
  return (
    <select
      class="model"
      aria-label="Model"
      title="Model"
      value={current}
      onFocus={() => void load()}
      onChange={(event) => pick(event.currentTarget.value)}
    >
      {!names.length && <option value={current}>{current || "model"}</option>}
      {names.map((one) => (
        <option key={one.name} value={one.name} disabled={one.unavailable !== undefined}>{one.name}</option>
      ))}
    </select>
  );
}

/** How full the context is, and what the session has cost where prices are known. */
function Meter() {
  const { state, session } = useView();
  const window = state.window ?? session?.config.window;
  if (!state.usage && !state.context) return <span class="meter" />;
  const used = state.context ?? 0;
  const share = window ? Math.min(1, used / window) : undefined;
  const price = session?.config.price;
  const cost = price && state.usage
    ? ((state.usage.input - (state.usage.cached ?? 0)) * price.input
        + (state.usage.cached ?? 0) * (price.cached ?? price.input)
        + state.usage.output * price.output) / 1e6
    : undefined;
  const shown = [
    share === undefined ? `${short(used)} tokens` : `${Math.round(share * 100)} %`,
    ...(cost === undefined || !price ? [] : [money(cost, price.currency)]),
  ].join(" · ");
  const detail = `${used.toLocaleString()}${window ? ` of ${window.toLocaleString()}` : ""} tokens in the context` +
    (state.usage ? `; ${state.usage.total.toLocaleString()} in the session` : "");
  return (
    <span class="meter" title={detail}>
      {share !== undefined && (
        <progress class={share > 0.8 ? "full" : ""} max={1} value={share} aria-label={detail} />
      )}
      <span>{shown}</span>
    </span>
  );
}

function short(count: number): string {
  return count < 1000 ? String(count) : `${(count / 1000).toFixed(count < 10_000 ? 1 : 0)}k`;
}

function money(cost: number, currency: string): string {
  return cost.toLocaleString([], { style: "currency", currency, maximumFractionDigits: cost < 1 ? 3 : 2 });
}

/** Files that are dropped become chips; the editor lets them through only while Shift is held. */
function dropping(store: Store): { onDragOver(event: DragEvent): void; onDrop(event: DragEvent): void } {
  return {
    onDragOver: (event) => event.preventDefault(),
    onDrop: (event) => {
      event.preventDefault();
      const data = event.dataTransfer;
      const list = data?.getData("application/vnd.code.uri-list") || data?.getData("text/uri-list") || "";
      const uris = list.split(/\r?\n/).filter((line) => line && !line.startsWith("#"));
      if (uris.length) store.do({ do: "drop", uris });
      else store.setProblem("Nothing that was dropped is a file. Hold Shift while you drop files of the editor.");
    },
  };
}
