// Messages that wait: for the turn that runs, or because the person stopped it.

import { useState } from "preact/hooks";
import type { Waiting as Message } from "../session/state";
import { isComposing } from "./focus";
import { useStore, useView } from "./use";
import { Icon, IconButton } from "./widgets";

export function Waiting() {
  const store = useStore();
  const { waiting, shown } = useView(({ state }) => ({
    waiting: state.waiting,
    // One that is just sent enters at once: it is no news that it waits.
    shown: state.running !== undefined || state.lastEnd?.kind === "aborted",
  }));
  const [editing, setEditing] = useState<string | undefined>(undefined);
  if (!waiting.length || !shown) return null;
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
  const parked = useView(({ state }) => state.running === undefined);
  const drop = async (): Promise<boolean> => {
    if (sessionId === undefined) return false;
    const params = { sessionId, key: message.key, remove: true };
    return (await store.ask("turnbuckle/inbox/edit", params))?.changed ?? false;
  };
  const sendNow = async (): Promise<void> => {
    if (sessionId === undefined || !(await drop())) return;
    const input = [{ type: "text" as const, text: message.text }];
    void store.ask("turnbuckle/turn", { sessionId, key: crypto.randomUUID(), input });
  };
  const steers = message.target === "step";
  return (
    <li>
      <Icon name={steers ? "debug-step-into" : "clock"} />
      <span class="unseen">{steers ? "For this turn:" : "For the next turn:"}</span>
      <span class="waiting-text" title={message.text}>
        {message.text}
      </span>
      {parked && !message.context && (
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
  const save = async (): Promise<void> => {
    const { session } = store.view;
    if (!session || !text.trim()) return;
    const input = [{ type: "text" as const, text }];
    const params = { sessionId: session.sessionId, key: message.key, input };
    const saved = await store.ask("turnbuckle/inbox/edit", params);
    if (saved && !saved.changed) store.setProblem("It was sent already, as it was before.");
    done();
  };
  const key = (event: KeyboardEvent): void => {
    if (isComposing(event)) return;
    if (event.key === "Escape") {
      event.stopPropagation();
      done();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      void save();
    }
  };
  return (
    <li>
      <textarea
        class="waiting-edit"
        aria-label="Waiting message"
        rows={Math.min(6, text.split("\n").length)}
        value={text}
        ref={(field) => {
          if (field && document.activeElement !== field) field.focus();
        }}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={key}
      />
      <IconButton icon="check" label="Save" onClick={() => void save()} />
      <IconButton icon="close" label="Leave it as it was" onClick={done} />
    </li>
  );
}
