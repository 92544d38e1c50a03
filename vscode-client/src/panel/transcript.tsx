// The conversation: a list of items, of which no more stand on the page than a person can read.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Item } from "../session/state";
import { Boundary } from "./boundary";
import { Empty } from "./empty";
import { escapes } from "./focus";
import { Plan } from "./plan";
import { Row } from "./row";
import { isShown, rowsOf } from "./rows";
import { useScrolling } from "./scrolling";
import type { Store } from "./store";
import { useStore, useView } from "./use";
import { Button, Icon } from "./widgets";

/** So many items are on the page at the end of the conversation, and so many more at a time. */
export const SHOWN = 120;
/** The first one moves on by steps, so that not every item takes another one away. */
const STEP = 60;
/** So many are drawn in one go: many at once are drawn over several frames, the last ones first. */
const BURST = 20;

export function Transcript() {
  const store = useStore();
  const { state, older, sessionId, live, thinking } = useView((view) => ({
    state: view.state,
    version: view.version,
    older: view.older,
    sessionId: view.session?.sessionId,
    live: view.state.live,
    thinking: view.settings.showThinking,
  }));
  const [frame, setFrame] = useState<HTMLElement | null>(null);
  const [current, setCurrent] = useState<string | undefined>(undefined);
  const all = (older.items.length ? [...older.items, ...state.items] : state.items).filter(isShown);
  const { first, earlier } = useWindow(all, sessionId, store, () => scrolling.hold());
  const scrolling = useScrolling(frame, sessionId, live, store.keeper, () => void earlier());
  first.follow(scrolling.follows);
  const seen = useRef(all.length);
  if (scrolling.follows) seen.current = all.length;
  const news = all.length > seen.current || (!scrolling.follows && state.running);
  const rows = rowsOf(all.slice(first.at));
  const last = state.running ? undefined : state.items.at(-1)?.id;
  const reached = rows.some((row) => row.id === current) ? current : rows.at(-1)?.id;

  if (!all.length && (live || (!sessionId && store.keeper.state.sessionId === undefined)))
    return <Empty />;
  return (
    <div class="transcript-frame">
      <div
        class="transcript"
        ref={setFrame}
        onScroll={scrolling.onScroll}
        onFocusIn={(event) => setCurrent(itemOf(event.target)?.dataset["item"] ?? current)}
        onKeyDown={(event) => move(event, store)}
      >
        <div>
          {(first.at > 0 || older.from > 0) && sessionId !== undefined && (
            <div class="older">
              <Button kind="link" onClick={() => void earlier()}>
                Show earlier messages
              </Button>
            </div>
          )}
          <ol class="items" aria-label="Conversation">
            {rows.map((row) => (
              <Row
                key={row.id}
                item={row}
                revision={state.revisions.get(row.id) ?? 0}
                gone={state.gone.has(row.id)}
                open={openness(store, row.kind === "group" ? [row, ...row.calls] : [row])}
                thinking={thinking}
                last={row.id === last}
                reached={row.id === reached}
              />
            ))}
          </ol>
          <Boundary>
            <Plan />
          </Boundary>
        </div>
      </div>
      {!scrolling.follows && (
        <button
          type="button"
          class={news ? "latest news" : "latest"}
          aria-label={news ? "New below: jump to the latest" : "Jump to the latest"}
          title={news ? "New below" : "Jump to the latest"}
          onClick={() => {
            scrolling.toEnd();
            store.focus();
          }}
        >
          <Icon name="arrow-down" />
        </button>
      )}
    </div>
  );
}

/** The first item on the page; it moves on only while the end is followed. */
function useWindow(all: Item[], sessionId: string | undefined, store: Store, hold: () => void) {
  const [, draw] = useState(0);
  const begin = { sessionId, at: 0, before: 0, length: 0, busy: false };
  const start = useRef(begin);
  const { older } = store.view;
  if (start.current.sessionId !== sessionId) start.current = begin;
  const window = start.current;
  // What was put before all others moves the place of each.
  window.at += older.items.length - window.before;
  window.length += older.items.length - window.before;
  window.before = older.items.length;
  if (window.at > all.length || window.at < 0) window.at = Math.max(0, all.length - SHOWN);
  const earlier = async (): Promise<void> => {
    if (window.busy) return;
    window.busy = true;
    try {
      if (window.at < STEP && older.from > 0) await store.readOlder();
    } catch (error) {
      store.setProblem(error instanceof Error ? error.message : String(error));
    }
    requestAnimationFrame(() => {
      hold();
      window.at = Math.max(0, window.at - STEP);
      window.busy = false;
      draw((count) => count + 1);
    });
  };
  const follow = (follows: boolean): void => {
    const added = all.length - window.length;
    window.length = all.length;
    if (!follows) return;
    if (added > BURST) window.at = Math.max(window.at, all.length - BURST);
    else if (all.length - window.at > SHOWN + STEP) window.at = all.length - SHOWN;
  };
  // Those before the last ones follow frame by frame.
  useEffect(() => {
    if (window.at === 0 || all.length - window.at >= SHOWN) return undefined;
    const frame = requestAnimationFrame(() => {
      if (window.at === 0) return;
      hold();
      window.at = Math.max(0, all.length - SHOWN, window.at - BURST);
      draw((count) => count + 1);
    });
    return () => cancelAnimationFrame(frame);
  });
  return { first: Object.assign(window, { follow }), earlier };
}

/** What decides, beside its own revision, how an item is drawn. */
function openness(store: Store, parts: { id: string }[]): string {
  return parts.map(({ id }) => `${store.isOpen(id)}${store.keeper.left(`${id}-why`)}`).join();
}

function itemOf(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>("[data-item]") : null;
}

/** Arrow keys go from item to item, Enter opens one, Escape goes back to the composer. */
function move(event: KeyboardEvent, store: Store): void {
  if (escapes(event)) return store.focus();
  const target = event.target as HTMLElement;
  if (!target.hasAttribute("data-item")) return;
  if (event.key === "Enter" || event.key === " ") {
    const summary = target.querySelector<HTMLElement>("summary");
    if (!summary) return;
    event.preventDefault();
    summary.click();
    return;
  }
  const next =
    event.key === "ArrowDown"
      ? target.nextElementSibling
      : event.key === "ArrowUp"
        ? target.previousElementSibling
        : event.key === "Home"
          ? target.parentElement?.firstElementChild
          : event.key === "End"
            ? target.parentElement?.lastElementChild
            : undefined;
  if (next instanceof HTMLElement) {
    event.preventDefault();
    next.focus();
  }
}
