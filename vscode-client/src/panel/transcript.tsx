// The conversation: a list of items that stays where the person reads, and follows where they do not.

import { memo } from "preact/compat";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Item } from "../session/state";
import { ApprovalCard } from "./approval";
import { useStore, useView } from "./app";
import { CallLine } from "./calls";
import { Empty } from "./empty";
import { Answer, EndLine, NoticeLine, UserMessage } from "./items";
import { Plan } from "./plan";
import { Button, Icon } from "./widgets";

/** How near to the end counts as being there, in pixels. */
const NEAR = 48;

export function Transcript() {
  const store = useStore();
  const { state, older, session } = useView();
  const list = useRef<HTMLDivElement>(null);
  const [follows, setFollows] = useState(true);
  const all = older.items.length ? [...older.items, ...state.items] : state.items;
  const items = all.filter(isShown);

  useLayoutEffect(() => {
    const element = list.current;
    if (element && follows) element.scrollTop = element.scrollHeight;
  });
  useEffect(() => setFollows(true), [session]);

  const scrolled = (): void => {
    const element = list.current;
    if (!element) return;
    setFollows(element.scrollHeight - element.scrollTop - element.clientHeight < NEAR);
  };
  const readOlder = async (): Promise<void> => {
    const element = list.current;
    const before = element ? element.scrollHeight - element.scrollTop : 0;
    await store.readOlder().catch((error: unknown) => store.setProblem(String(error)));
    // What is read stays where it is.
    requestAnimationFrame(() => {
      if (element) element.scrollTop = element.scrollHeight - before;
    });
  };
  if (!items.length && state.live) return <Empty />;
  return (
    <div class="transcript-frame">
      <div class="transcript" ref={list} onScroll={scrolled} tabIndex={-1}>
        {older.from > 0 && session && (
          <div class="older">
            <Button kind="link" onClick={() => void readOlder()}>
              Show older turns
            </Button>
          </div>
        )}
        <ol class="items" aria-label="Conversation" onKeyDown={move}>
          {items.map((item) => (
            <Row
              key={item.id}
              item={item}
              revision={state.revisions.get(item.id) ?? 0}
              gone={state.gone.has(item.id)}
              open={openness(item, (id) => store.isOpen(id))}
            />
          ))}
        </ol>
        <Plan items={state.todo} />
      </div>
      {!follows && (
        <button
          type="button"
          class="latest"
          aria-label="Jump to the latest"
          title="Jump to the latest"
          onClick={() => setFollows(true)}
        >
          <Icon name="arrow-down" />
        </button>
      )}
    </div>
  );
}

/** The plan stands below, as it is now: the calls that wrote it are no news. */
function isShown(item: Item): boolean {
  return item.kind !== "call" || item.name !== "todo_write" || item.state === "failed";
}

/** What decides, beside its own revision, how an item is drawn. */
function openness(item: Item, isOpen: (id: string) => boolean): string {
  return `${isOpen(item.id)}${isOpen(`${item.id}-why`)}`;
}

const LABELS: Record<Item["kind"], string> = {
  user: "You",
  assistant: "Agent",
  call: "Tool",
  end: "End of the turn",
  notice: "Notice",
};

const Row = memo(function Row({ item, gone }: { item: Item; revision: number; gone: boolean; open: string }) {
  return (
    <li class={`item is-${item.kind}${gone ? " gone" : ""}`} tabIndex={-1} aria-label={LABELS[item.kind]} data-item>
      <Body item={item} />
    </li>
  );
});

function Body({ item }: { item: Item }) {
  switch (item.kind) {
    case "user":
      return <UserMessage item={item} />;
    case "assistant":
      return <Answer item={item} />;
    case "call":
      return (
        <>
          <CallLine item={item} />
          {item.approval && item.approval.outcome === undefined && <ApprovalCard approval={item.approval} />}
        </>
      );
    case "end":
      return <EndLine item={item} />;
    case "notice":
      return <NoticeLine item={item} />;
  }
}

/** Arrow keys go from item to item, once one of them has the focus. */
function move(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  if (!target.hasAttribute("data-item")) return;
  const next = event.key === "ArrowDown" ? target.nextElementSibling
    : event.key === "ArrowUp" ? target.previousElementSibling
    : event.key === "Home" ? target.parentElement?.firstElementChild
    : event.key === "End" ? target.parentElement?.lastElementChild
    : undefined;
  if (next instanceof HTMLElement) {
    event.preventDefault();
    next.focus();
  }
}
