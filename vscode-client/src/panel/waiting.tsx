// Messages that wait: for the turn that runs, or because the person stopped it.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Waiting as Message } from "../session/state";
import { escapes, isComposing, leaveLine } from "./focus";
import { chipsOf, submit } from "./sending";
import { useStore, useView } from "./use";
import { Icon, IconButton } from "./widgets";

/** About what fits into a row of the field, in characters. */
const COLUMNS = 36;
const LATE = "It was sent already, as it was before. What you made of it is in the field below.";

export function Waiting() {
  const store = useStore();
  const { all, running } = useView(({ state }) => ({
    all: state.waiting,
    running: state.running !== undefined,
  }));
  const [editing, setEditing] = useState<string | undefined>(undefined);
  // One that is just sent enters at once: it is no news that it waits.
  const waiting = all.filter((one) => running || one.parked || one.key === editing);
  if (!waiting.length) return null;
  return (
    <ul class="waiting" aria-label="Messages that wait">
      {waiting.map((one) =>
        editing === one.key ? (
          <Edit
            key={one.key}
            message={one}
            done={() => {
              setEditing(undefined);
              store.focus();
            }}
          />
        ) : (
          <Line key={one.key} message={one} edit={() => setEditing(one.key)} />
        ),
      )}
    </ul>
  );
}

function Line({ message, edit }: { message: Message; edit: () => void }) {
  const store = useStore();
  const sessionId = useView(({ session }) => session?.sessionId);
  const line = useRef<HTMLLIElement>(null);
  useLayoutEffect(() => () => leaveLine(line.current, () => store.focus()), []);
  const drop = async (): Promise<boolean> => {
    if (sessionId === undefined) return false;
    const params = { sessionId, key: message.key, remove: true };
    return (await store.ask("turnbuckle/inbox/edit", params))?.changed ?? false;
  };
  const sendNow = async (): Promise<void> => {
    if (sessionId === undefined || !(await drop())) return;
    submit(store, sessionId, { draft: message.text, chips: chipsOf(message.pointed) }, "queue");
  };
  const steers = message.target === "step";
  return (
    <li ref={line}>
      <Icon name={steers ? "debug-step-into" : "clock"} />
      <span class="unseen">{steers ? "For this turn:" : "For the next turn:"}</span>
      <span class="waiting-text" dir="auto" title={message.text}>
        {message.text}
      </span>
      {message.parked && (
        <IconButton
          icon="play"
          label="Send this waiting message now"
          onClick={() => void sendNow()}
        />
      )}
      <IconButton icon="edit" label="Edit this waiting message" onClick={edit} />
      <IconButton icon="close" label="Drop this waiting message" onClick={() => void drop()} />
    </li>
  );
}

function Edit({ message, done }: { message: Message; done: () => void }) {
  const store = useStore();
  const [text, setText] = useState(message.text);
  const field = useRef<HTMLTextAreaElement>(null);
  const sessionId = store.view.session?.sessionId;
  const written = useRef(text);
  written.current = text;
  const over = useRef(false);
  useEffect(() => field.current?.focus(), []);
  /** It was sent meanwhile: what was made of it is not lost. */
  const late = (): void => {
    const elsewhere = store.view.session?.sessionId !== sessionId;
    if (over.current || elsewhere || written.current === message.text) return;
    over.current = true;
    store.suggest(written.current);
    store.setProblem(LATE);
  };
  useLayoutEffect(
    () => () => {
      if (field.current?.contains(document.activeElement)) store.focus();
      if (!store.view.state.waiting.some((one) => one.key === message.key)) late();
    },
    [],
  );
  const close = (): void => {
    over.current = true;
    done();
  };
  const save = async (): Promise<void> => {
    if (sessionId === undefined || !text.trim()) return;
    const input = [{ type: "text" as const, text }];
    const saved = await store.ask("turnbuckle/inbox/edit", { sessionId, key: message.key, input });
    if (!saved) return; // it was refused, and can be tried again
    if (!saved.changed) late();
    close();
  };
  const key = (event: KeyboardEvent): void => {
    if (escapes(event)) return close();
    if (isComposing(event) || event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    if (!event.repeat) void save();
  };
  return (
    <li>
      <textarea
        class="waiting-edit"
        aria-label="Waiting message"
        dir="auto"
        rows={rowsOf(text)}
        value={text}
        ref={field}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={key}
      />
      <IconButton icon="check" label="Save" onClick={() => void save()} />
      <IconButton icon="close" label="Leave it as it was" onClick={close} />
    </li>
  );
}

/** As many rows as a text takes at the least, up to six. */
function rowsOf(text: string): number {
  const rows = text.split("\n").map((line) => Math.max(1, Math.ceil(line.length / COLUMNS)));
  return Math.min(
    6,
    rows.reduce((one, other) => one + other, 0),
  );
}
