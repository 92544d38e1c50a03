// One item of the conversation; drawn again only when it changed.

import { memo } from "preact/compat";
import type { PanelSettings } from "../shared/messages";
import { headline } from "../session/words";
import { ApprovalCard } from "./approval";
import { Boundary } from "./boundary";
import { CallGroup, CallLine } from "./calls";
import { callWords } from "./callwords";
import { Answer, EndLine, endWords, NoticeLine, UserMessage } from "./items";
import { groupWords, type RowItem } from "./rows";

interface Props {
  item: RowItem;
  revision: number;
  gone: boolean;
  open: string;
  thinking: PanelSettings["showThinking"];
  /** Whether nothing came after it and no turn runs. */
  last: boolean;
  /** Whether the tab key leads to it. */
  reached: boolean;
}

export const Row = memo(function Row({ item, gone, thinking, last, reached }: Props) {
  return (
    <li
      class={`item is-${kindOf(item)}${gone ? " gone" : ""}`}
      tabIndex={reached ? 0 : -1}
      aria-label={`${named(item)}${gone ? " (taken back)" : ""}`}
      data-item={item.id}
    >
      <Boundary>
        <Body item={item} gone={gone} thinking={thinking} last={last} />
      </Boundary>
    </li>
  );
});

function Body({ item, gone, thinking, last }: Pick<Props, "item" | "gone" | "thinking" | "last">) {
  switch (item.kind) {
    case "user":
      return <UserMessage item={item} gone={gone} />;
    case "assistant":
      return <Answer item={item} thinking={thinking} />;
    case "group":
      return <CallGroup id={item.id} calls={item.calls} />;
    case "call":
      // The question stands where the line will stand.
      return isAsked(item) && item.approval ? (
        <ApprovalCard approval={item.approval} />
      ) : (
        <CallLine item={item} />
      );
    case "end":
      return <EndLine item={item} last={last} />;
    case "notice":
      return <NoticeLine item={item} />;
  }
}

function isAsked(item: RowItem): boolean {
  return item.kind === "call" && item.approval !== undefined && item.approval.outcome === undefined;
}

function kindOf(item: RowItem): string {
  if (isAsked(item)) return "question";
  return item.kind === "group" ? "call" : item.kind;
}

/** What cannot be read has no words, and is shown as such by its boundary. */
function named(item: RowItem): string {
  try {
    return label(item);
  } catch {
    return "An item that cannot be shown";
  }
}

/** The most of an item that its label says, in characters. */
const LABEL = 160;

function label(item: RowItem): string {
  switch (item.kind) {
    case "user":
      return `You: ${short(item.text)}`;
    case "assistant":
      return `Agent: ${item.streaming ? "is writing" : short(item.text || item.reasoning)}`;
    case "group":
      return groupWords(item.calls);
    case "call":
      if (isAsked(item) && item.approval) return `Question: ${headline(item.approval)}`;
      return callWords(item);
    case "end":
      return endWords(item.end);
    case "notice":
      return item.text;
  }
}

function short(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > LABEL ? `${line.slice(0, LABEL)}…` : line;
}
