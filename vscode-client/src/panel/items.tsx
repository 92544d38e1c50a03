// What people and the model said, and how turns ended.

import { useState } from "preact/hooks";
import type { AssistantItem, EndItem, NoticeItem, UserItem } from "../session/state";
import { useStore, useView } from "./app";
import { Markdown } from "./text";
import { Button, Fold, Icon, IconButton } from "./widgets";

export function UserMessage({ item }: { item: UserItem }) {
  const store = useStore();
  const [undoing, setUndoing] = useState(false);
  const sessionId = store.view.session?.sessionId;
  const rewind = async (files: "keep" | "restore", text?: string): Promise<void> => {
    setUndoing(false);
    if (sessionId === undefined) return;
    const done = await store.ask("turnbuckle/session/rewind", { sessionId, turn: item.turn, files });
    if (!done) return;
    if (text !== undefined) store.compose(text);
    const skipped = done.skipped.map((one) => `${one.uri}: ${one.why}`);
    if (skipped.length) store.setProblem(`Left as they are: ${skipped.join("; ")}`);
  };
  const fork = async (): Promise<void> => {
    if (sessionId === undefined) return;
    const made = await store.ask("turnbuckle/session/fork", { sessionId, turn: item.turn - 1 });
    if (made) store.showSession(made.sessionId);
  };
  return (
    <div class="user-card">
      <div class="user-text">{item.text}</div>
      {item.context.length > 0 && (
        <ul class="chips" aria-label="Context">
          {item.context.map((label) => (
            <li class="chip" key={label}>
              {label}
            </li>
          ))}
        </ul>
      )}
      {item.source === "user" && (
        <div class="item-tools">
          <IconButton icon="edit" label="Edit and send again" onClick={() => void rewind("keep", item.text)} />
          <IconButton icon="repo-forked" label="Fork before this message" onClick={() => void fork()} />
          <IconButton icon="discard" label="Take back from here…" onClick={() => setUndoing(!undoing)} pressed={undoing} />
        </div>
      )}
      {undoing && (
        <div class="choices" role="group" aria-label="Take back from here">
          <Button kind="primary" onClick={() => void rewind("restore")}>Chat and files</Button>
          <Button onClick={() => void rewind("keep")}>Chat only</Button>
          <Button onClick={() => setUndoing(false)}>Cancel</Button>
        </div>
      )}
    </div>
  );
}

export function Answer({ item }: { item: AssistantItem }) {
  const store = useStore();
  const { settings } = useView();
  const why = `${item.id}-why`;
  return (
    <>
      {item.reasoning && settings.showThinking !== "off" && (
        <Fold
          class="thinking"
          open={settings.showThinking === "full" || store.isOpen(why)}
          onToggle={(open) => store.setOpen(why, open)}
          summary={item.streaming && !item.text ? "Thinking…" : "Thoughts"}
        >
          <div class="thinking-text">{item.reasoning}</div>
        </Fold>
      )}
      {item.text && <Markdown text={item.text} streaming={item.streaming} />}
      {item.interrupted && <div class="muted">The answer was cut off here.</div>}
    </>
  );
}

export function EndLine({ item }: { item: EndItem }) {
  const store = useStore();
  const { state, session } = useView();
  const { end } = item;
  const last = state.items.at(-1)?.id === item.id && !state.running;
  const words = {
    completed: "Done",
    blocked: `Not accepted${end.reason ? `: ${end.reason}` : ""}`,
    stopped: `Stopped${end.reason ? `: ${end.reason}` : ""}`,
    "max-tokens": "The answer was too long for the model and is cut off",
    aborted: end.cause === "user" ? "Stopped by you" : `Stopped${end.cause ? `: ${end.cause}` : ""}`,
    error: end.failure?.message ?? "Something went wrong",
    interrupted: "Interrupted: the server ended before the turn did. What had not begun was not run",
  }[end.kind];
  const go = (): void => {
    if (!session) return;
    const key = crypto.randomUUID();
    void store.ask("turnbuckle/turn", { sessionId: session.sessionId, key, resume: true });
  };
  return (
    <div class={`end-line ${end.kind}`}>
      <Icon name={end.kind === "error" ? "error" : end.kind === "interrupted" ? "debug-disconnect" : "circle-slash"} />
      <span>{words}</span>
      {last && (
        <Button kind="link" onClick={go}>
          {end.kind === "error" ? "Retry" : "Resume"}
        </Button>
      )}
    </div>
  );
}

export function NoticeLine({ item }: { item: NoticeItem }) {
  const store = useStore();
  if (item.detail === undefined) return <div class="notice">{item.text}</div>;
  return (
    <Fold
      class="notice"
      open={store.isOpen(item.id)}
      onToggle={(open) => store.setOpen(item.id, open)}
      summary={item.text}
    >
      <Markdown text={item.detail} streaming={false} />
    </Fold>
  );
}
