// What a session looks like to a person: made from its facts by `reduce`, and from nothing else.

import type { Context, End, Failure, TodoItem, Usage } from "../wire/types";

/** Something the person said, a plugin, or the context that came with it. */
export interface UserItem {
  kind: "user";
  id: string;
  seq: number;
  turn: number;
  key?: string;
  text: string;
  source: "user" | "plugin" | "context";
  /** The labels of what was pointed at. */
  context: string[];
  /** The same as it was sent, for sending it again. */
  pointed: Context[];
}

/** What the model said in one step. */
export interface AssistantItem {
  kind: "assistant";
  id: string;
  seq: number;
  turn: number;
  step: number;
  text: string;
  reasoning: string;
  streaming: boolean;
  interrupted: boolean;
}

export type CallState =
  | "proposed" // the model is still writing it
  | "waiting" // for the person, or for its turn
  | "running"
  | "done"
  | "failed"
  | "denied"
  | "notRun";

/** One tool call, from its first letter to its result. */
export interface CallItem {
  kind: "call";
  id: string;
  seq: number;
  turn: number;
  step: number;
  callId?: string;
  name: string;
  arguments: string;
  state: CallState;
  /** The approval of it, open or settled. */
  approval?: Approval;
  /** The end of what it prints while it runs. */
  output: string;
  /** What the model was told. */
  result?: string;
  code?: string;
  meta?: Record<string, unknown>;
  startedAt?: number;
  endedAt?: number;
  /** The documents that were really changed. */
  changed: string[];
}

/** How a turn ended, where that is worth a line. */
export interface EndItem {
  kind: "end";
  id: string;
  seq: number;
  turn: number;
  end: End;
}

/** A line about the session itself: it was compacted, taken back, or forked. */
export interface NoticeItem {
  kind: "notice";
  id: string;
  seq: number;
  text: string;
  detail?: string;
}

export type Item = UserItem | AssistantItem | CallItem | EndItem | NoticeItem;

export interface HunkSubject {
  hunkId: string;
  line: number;
  oldText?: string;
  newText?: string;
  truncated?: boolean;
}

export interface FileSubject {
  uri: string;
  /** Where a file that is renamed goes. */
  newUri?: string;
  kind: string;
  hunks: HunkSubject[];
}

/** A place that is read; outside of the workspace, or secret, where that is said. */
export interface PlaceSubject {
  uri: string;
  shown: string;
  outside: boolean;
  secret: boolean;
}

/** What is approved; kinds that are not known are shown as they are. */
export type Subject =
  | { kind: "change"; reason: string; files: FileSubject[] }
  | { kind: "command"; reason: string; command: string; cwd: string; timeout?: number }
  | { kind: "read"; reason: string; places: PlaceSubject[] }
  | { kind: "question"; reason: string; question: string; choices: string[] }
  | { kind: "other"; reason: string; raw: Record<string, unknown> };

export type HunkDecision = "accepted" | "rejected";

/** A question to the person; open while it has no outcome. */
export interface Approval {
  approvalId: string;
  callId: string;
  subject: Subject;
  choices: string[];
  hunks: Record<string, HunkDecision>;
  outcome?: "allowed" | "rejected" | "cancelled" | "unavailable";
  by?: string;
  note?: string;
  answer?: string;
}

/** A message that waits. */
export interface Waiting {
  key: string;
  text: string;
  target: "turn" | "step";
  /** What it points at, as it was sent. */
  pointed: Context[];
  /** Whether its turn does not come by itself: the one before did not complete. */
  parked: boolean;
}

/** What was said of the request that runs: a retry that waits, a compaction. */
export interface Status {
  text: string;
  until?: number;
}

export interface SessionState {
  title?: string;
  /** The last fact that was taken, −1 for none. */
  seq: number;
  /** Whether the replay is over. */
  live: boolean;
  turn: number;
  /** The turn that runs, if one does, and since when (milliseconds since 1970). */
  running?: { turn: number; step: number; since: number };
  items: Item[];
  /** Grows whenever an item with this id changes; rows are drawn again by it. */
  revisions: Map<string, number>;
  waiting: Waiting[];
  open: Approval[];
  todo: TodoItem[];
  /** The turn that wrote the list. */
  todoTurn: number;
  /** Grows with every value, so that those who draw see that something changed. */
  version: number;
  usage?: Usage;
  /** Tokens of the last request and its answer, and the window of its model, for the meter. */
  context?: number;
  window?: number;
  model?: string;
  status?: Status;
  lastEnd?: End;
  failure?: Failure;
  /** Ids of items that a rewind took back. */
  gone: Set<string>;
}

export function emptyState(): SessionState {
  return {
    seq: -1,
    live: false,
    turn: 0,
    items: [],
    revisions: new Map(),
    waiting: [],
    open: [],
    todo: [],
    todoTurn: 0,
    version: 0,
    gone: new Set(),
  };
}
