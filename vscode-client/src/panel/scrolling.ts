// The conversation stays where the person reads, and follows its end where they do not.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Anchor } from "./api";
import type { Keeper } from "./kept";

/** How near to the end counts as being there, in pixels. */
const NEAR = 48;
/** How near to the beginning earlier items are fetched. */
const EARLY = 80;

export interface Scrolling {
  follows: boolean;
  onScroll(): void;
  toEnd(): void;
  /** Keep the distance to the end over the next drawing, in which something is put before. */
  hold(): void;
}

/** `frame` has one child, and is not there while there is nothing to scroll. */
export function useScrolling(
  frame: HTMLElement | null,
  sessionId: string | undefined,
  live: boolean,
  keeper: Keeper,
  earlier: () => void,
): Scrolling {
  const [follows, setFollows] = useState(true);
  const last = useRef(0);
  const held = useRef<number | undefined>(undefined);

  useEffect(() => setFollows(true), [sessionId]);
  // After a reload of the page, whoever read further up reads on there.
  useLayoutEffect(() => {
    const { anchor } = keeper.state;
    if (live && anchor && frame && restore(frame, anchor)) setFollows(false);
  }, [sessionId, live, frame]);
  useLayoutEffect(() => {
    if (!frame) return;
    if (held.current !== undefined) frame.scrollTop = frame.scrollHeight - held.current;
    else if (follows) frame.scrollTop = frame.scrollHeight;
    held.current = undefined;
    last.current = frame.scrollTop;
  });
  // Items off the screen get their height when they come near, and some draw themselves: the end
  // is followed then, too.
  useLayoutEffect(() => {
    if (!frame || !follows || typeof ResizeObserver === "undefined") return undefined;
    const observer = new ResizeObserver(() => {
      frame.scrollTop = frame.scrollHeight;
      // What became shorter moved the page too, and was no person.
      last.current = frame.scrollTop;
    });
    observer.observe(frame);
    observer.observe(frame.firstElementChild!);
    return () => observer.disconnect();
  }, [follows, sessionId, frame]);

  return {
    follows,
    onScroll: () => {
      if (!frame) return;
      const near = frame.scrollHeight - frame.scrollTop - frame.clientHeight < NEAR;
      // Only a person scrolls up: what grows at the end does not.
      if (near) setFollows(true);
      else if (frame.scrollTop < last.current) setFollows(false);
      if (frame.scrollTop < EARLY && frame.scrollTop < last.current) earlier();
      last.current = frame.scrollTop;
      keeper.anchorAt(near ? undefined : anchorOf(frame));
    },
    toEnd: () => {
      keeper.anchorAt(undefined);
      setFollows(true);
    },
    hold: () => {
      if (frame) held.current = frame.scrollHeight - frame.scrollTop;
    },
  };
}

function anchorOf(frame: HTMLElement): Anchor | undefined {
  const top = frame.getBoundingClientRect().top;
  for (const item of frame.querySelectorAll<HTMLElement>("[data-item]")) {
    const box = item.getBoundingClientRect();
    if (box.bottom > top)
      return { id: item.dataset["item"] ?? "", offset: Math.round(box.top - top) };
  }
  return undefined;
}

function restore(frame: HTMLElement, anchor: Anchor): boolean {
  const item = [...frame.querySelectorAll<HTMLElement>("[data-item]")].find(
    (one) => one.dataset["item"] === anchor.id,
  );
  if (!item) return false;
  frame.scrollTop +=
    item.getBoundingClientRect().top - frame.getBoundingClientRect().top - anchor.offset;
  return true;
}
