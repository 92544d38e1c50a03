// The conversation stays where the person reads, and follows its end where they do not.

import type { RefObject } from "preact";
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

export function useScrolling(
  frame: RefObject<HTMLDivElement>,
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
    if (live && anchor && frame.current && restore(frame.current, anchor)) setFollows(false);
  }, [sessionId, live]);
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element) return;
    if (held.current !== undefined) element.scrollTop = element.scrollHeight - held.current;
    else if (follows) element.scrollTop = element.scrollHeight;
    held.current = undefined;
    last.current = element.scrollTop;
  });
  // Items off the screen get their height when they come near: the end is followed then, too.
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element || !follows || typeof ResizeObserver === "undefined") return undefined;
    const observer = new ResizeObserver(() => {
      element.scrollTop = element.scrollHeight;
    });
    for (const child of element.children) observer.observe(child);
    observer.observe(element);
    return () => observer.disconnect();
  }, [follows, sessionId, live]);

  return {
    follows,
    onScroll: () => {
      const element = frame.current;
      if (!element) return;
      const near = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR;
      // Only a person scrolls up: what grows at the end does not.
      if (near) setFollows(true);
      else if (element.scrollTop < last.current) setFollows(false);
      if (element.scrollTop < EARLY && element.scrollTop < last.current) earlier();
      last.current = element.scrollTop;
      keeper.anchorAt(near ? undefined : anchorOf(element));
    },
    toEnd: () => {
      keeper.anchorAt(undefined);
      setFollows(true);
    },
    hold: () => {
      const element = frame.current;
      if (element) held.current = element.scrollHeight - element.scrollTop;
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
