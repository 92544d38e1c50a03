// What people and the model said, and how turns ended.

import { useRef, useState } from "preact/hooks";
import type { End } from "../wire/types";
import type { PanelSettings } from "../shared/messages";
import type { AssistantItem, EndItem, NoticeItem, UserItem } from "../session/state";
import { fork, resume, rewind } from "./doing";
import { leaveTo } from "./focus";
import { chipsOf } from "./sending";
import type { Store } from "./store";
import { Markdown } from "./text";
import { useStore, useView } from "./use";
import { Button, Fold, Icon, IconButton } from "./widgets";

export function UserMessage({ item, gone }: { item: UserItem; gone: boolean }) {
  const store = useStore();
  const busy = useView((view) => view.state.running !== undefined);
  const [undoing, setUndoing] = useState(false);
  const [asked, setAsked] = useState(false);
  const card = useRef<HTMLDivElement>(null);
  const close = (): void => {
    leaveTo(card.current, "[data-item]");
    setUndoing(false);
  };
  const takeBack = async (files: "keep" | "restore"): Promise<boolean> => {
    if (asked) return false;
    close();
    setAsked(true);
    const done = await rewind(store, item.turn, files);
    setAsked(false);
    return done;
  };
  const editAgain = async (): Promise<void> => {
    const said = saidIn(store, item);
    if (!(await takeBack("keep"))) return;
    store.suggest(said.map((one) => one.text).join("\n\n"));
    store.addChips(said.flatMap((one) => chipsOf(one.pointed)));
    store.focus();
  };
  const why = busy ? " (stop the turn first)" : "";
  return (
    <div class={`user-card ${item.source}`} ref={card}>
      <div class="user-text" dir="auto">
        {item.text}
      </div>
      {item.context.length > 0 && (
        <ul class="chips" aria-label="Context">
          {item.context.map((label, index) => (
            <li class="chip" key={index}>
              <span class="chip-text" dir="auto">
                {label}
              </span>
            </li>
          ))}
        </ul>
      )}
      {item.source === "user" && !gone && (
        <div class="item-tools">
          <IconButton
            icon="edit"
            label={`Edit and send again${why}`}
            disabled={busy}
            onClick={() => void editAgain()}
          />
          <IconButton
            icon="repo-forked"
            label="Fork before this message"
            onClick={() => void fork(store, item.turn - 1)}
          />
          <IconButton
            icon="discard"
            label={`Take back from here…${why}`}
            disabled={busy}
            pressed={undoing}
            onClick={() => setUndoing(!undoing)}
          />
        </div>
      )}
      {undoing && !gone && (
        <div class="choices" role="group" aria-label="Take back from here">
          <Button kind="primary" onClick={() => void takeBack("restore")}>
            Chat and files
          </Button>
          <Button onClick={() => void takeBack("keep")}>Chat only</Button>
          <Button onClick={close}>Cancel</Button>
          <div class="muted">
            Only files that the agent wrote and that nobody changed since are put back.
          </div>
        </div>
      )}
    </div>
  );
}

/** All that the person said in the turn of a message, which is taken back as a whole. */
function saidIn({ view }: Store, item: UserItem): UserItem[] {
  return [...view.older.items, ...view.state.items].filter(
    (one): one is UserItem =>
      one.kind === "user"
      && one.source === "user"
      && one.turn === item.turn
      && view.state.gone.has(one.id) === view.state.gone.has(item.id),
  );
}

export function Answer({
  item,
  thinking,
}: {
  item: AssistantItem;
  thinking: PanelSettings["showThinking"];
}) {
  const store = useStore();
  const why = `${item.id}-why`;
  return (
    <>
      {item.reasoning && thinking !== "off" && (
        <Fold
          class="thinking"
          open={store.isOpen(why, thinking === "full")}
          onToggle={(open) => store.setOpen(why, open)}
          summary={item.streaming && !item.text ? "Thinking…" : "Thoughts"}
        >
          <div class="thinking-text" dir="auto">
            {item.reasoning}
          </div>
        </Fold>
      )}
      {item.text && <Markdown text={item.text} streaming={item.streaming} />}
      {item.interrupted && <div class="muted">The answer was cut off here.</div>}
    </>
  );
}

/** Ends that can be gone on from. */
const RESUMABLE: ReadonlySet<string> = new Set([
  "interrupted",
  "aborted",
  "error",
  "stopped",
  "max-tokens",
]);
const ICONS: Partial<Record<End["kind"], string>> = {
  error: "error",
  interrupted: "debug-disconnect",
};
/** Failures that another model or key may mend. */
const CONNECTS: ReadonlySet<string> = new Set(["auth", "quota", "model"]);

export function endWords(end: End): string {
  switch (end.kind) {
    case "completed":
      return "Done";
    case "blocked":
      return `Not accepted${end.reason ? `: ${end.reason}` : ""}`;
    case "stopped":
      return `Stopped${end.reason ? `: ${end.reason}` : ""}`;
    case "max-tokens":
      return "The answer was too long for the model and is cut off";
    case "aborted":
      return end.cause === "user"
        ? "Stopped by you"
        : `Stopped${end.cause ? `: ${end.cause}` : ""}`;
    case "error":
      return end.failure?.message ?? "Something went wrong";
    case "interrupted":
      return "Interrupted: the server ended before the turn did. What had not begun was not run";
    default:
      return "The turn ended";
  }
}

export function EndLine({ item, last }: { item: EndItem; last: boolean }) {
  const store = useStore();
  const can = useView((view) => view.session !== undefined && view.settings.trusted);
  const [going, setGoing] = useState(false);
  const { end } = item;
  const line = useRef<HTMLDivElement>(null);
  const go = (): void => {
    leaveTo(line.current, "[data-item]");
    setGoing(true);
    void resume(store).then(() => setGoing(false));
  };
  return (
    <div class={`end-line ${end.kind}`} ref={line}>
      <Icon name={ICONS[end.kind] ?? "circle-slash"} />
      <span class="end-words">{endWords(end)}</span>
      {last && can && (
        <span class="end-actions">
          {end.failure && CONNECTS.has(end.failure.kind) && (
            <Button kind="link" onClick={() => store.do({ do: "connect" })}>
              Connect a model…
            </Button>
          )}
          {RESUMABLE.has(end.kind) && (
            <Button kind="link" disabled={going} onClick={go}>
              {end.kind === "error" ? "Retry" : "Resume"}
            </Button>
          )}
        </span>
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
