// Facts in, what is shown out. Pure but for the state that it is given: it asks nobody anything.

import type { Fact, Facts } from "../wire/types";
import type { Note, Value } from "../shared/messages";
import { gone, isGone, type Rewind } from "./rewound";
import {
  emptyState,
  type Approval,
  type AssistantItem,
  type CallItem,
  type CallState,
  type Item,
  type SessionState,
} from "./state";
import { readSubject } from "./subject";

/** The most that is kept of what a running call prints, in characters. */
export const OUTPUT_TAIL = 8 * 1024;

const DENIED = new Set(["DENIED"]);
const NOT_RUN = new Set(["ABORTED_BEFORE_DISPATCH", "TOOL_NOT_STARTED"]);

type Handler<T extends keyof Facts> = (fact: Extract<Fact, { type: T }>) => void;

/** Reduces one session. `apply` takes values in their order; facts that were seen are skipped. */
export class Reducer {
  readonly state: SessionState;
  private readonly calls = new Map<string, CallItem>();
  private readonly approvals = new Map<string, Approval>();
  private readonly rewinds: Rewind[] = [];
  private readonly added = new Map<string, Facts["inbox/added"]>();
  private answer: AssistantItem | undefined;
  private proposed: CallItem[] = [];

  constructor(state: SessionState = emptyState()) {
    this.state = state;
  }

  apply(value: Value): void {
    if (!("seq" in value)) {
      this.note(value);
      return;
    }
    if (value.seq <= this.state.seq) return;
    this.state.seq = value.seq;
    const handler = this.handlers[value.type] as Handler<typeof value.type> | undefined;
    handler?.(value as never);
  }

  private readonly handlers: { [T in keyof Facts]?: Handler<T> } = {
    "session/title": ({ data }) => {
      this.state.title = data.title;
    },
    "turn/start": ({ data, time }) => {
      this.state.turn = data.turn;
      this.state.running = { turn: data.turn, step: 0, since: time };
      delete this.state.failure;
    },
    "turn/end": ({ seq, data }) => {
      delete this.state.running;
      delete this.state.status;
      this.state.lastEnd = data.end;
      if (data.end.failure) this.state.failure = data.end.failure;
      this.closeAnswer();
      if (data.end.kind !== "completed") {
        this.push({ kind: "end", id: `end-${seq}`, seq, turn: data.turn, end: data.end });
      }
    },
    "step/start": ({ data }) => {
      if (this.state.running) this.state.running.step = data.step;
    },
    "inbox/added": ({ data }) => {
      this.added.set(data.key, data);
      if ((data.source ?? "user") !== "user") return;
      this.state.title ??= firstLine(data.input);
      this.state.waiting = [
        ...this.state.waiting,
        { key: data.key, text: data.input, target: data.target, context: data.context?.length ?? 0 },
      ];
    },
    "inbox/changed": ({ data }) => {
      this.state.waiting = this.state.waiting.map((one) =>
        one.key === data.key ? { ...one, text: data.input } : one,
      );
    },
    "inbox/dropped": ({ data }) => {
      this.state.waiting = this.state.waiting.filter((one) => !data.keys.includes(one.key));
    },
    "user/message": ({ seq, data }) => this.userMessage(seq, data),
    "llm/stream": ({ data }) => {
      if (data.why) return;
      this.state.model = data.model;
      if (data.window !== undefined) this.state.window = data.window;
      this.dropAnswer();
    },
    "llm/failed": ({ data }) => {
      this.dropAnswer();
      this.state.failure = data.failure;
      if (data.retryAt !== undefined) {
        this.state.status = { text: data.failure.message, until: data.retryAt };
      }
    },
    "assistant/chunk": ({ seq, data }) => this.chunk(seq, data),
    "assistant/message": ({ seq, data }) => this.message(seq, data),
    "tool/call": ({ seq, data }) => {
      const call = this.calls.get(data.callId) ?? this.newCall(seq, data.turn, data.step, data.name);
      call.callId = data.callId;
      call.name = data.name;
      call.arguments = data.arguments;
      call.state = "waiting";
      this.calls.set(data.callId, call);
      this.touch(call);
    },
    "tool/start": ({ time, data }) => {
      this.onCall(data.callId, (call) => {
        call.state = "running";
        call.startedAt = time;
        call.output = "";
      });
    },
    "tool/result": ({ time, data }) => {
      this.onCall(data.callId, (call) => {
        call.result = data.content;
        if (data.code !== undefined) call.code = data.code;
        if (data.meta !== undefined) call.meta = data.meta;
        call.endedAt = time;
        call.state = settled(data.isError, data.code);
      });
    },
    "approval/asked": ({ data }) => {
      const approval: Approval = {
        approvalId: data.approvalId,
        callId: data.callId,
        subject: readSubject(data.subject),
        choices: data.choices,
        hunks: {},
      };
      this.approvals.set(data.approvalId, approval);
      this.state.open = [...this.state.open, approval];
      this.onCall(data.callId, (call) => {
        call.approval = approval;
      });
    },
    "approval/hunk": ({ data }) => {
      this.onApproval(data.approvalId, (approval) => {
        approval.hunks = { ...approval.hunks, [data.hunkId]: data.decision };
      });
    },
    "approval/decided": ({ data }) => {
      this.onApproval(data.approvalId, (approval) => {
        approval.outcome = data.outcome;
        approval.by = data.by;
        if (data.note !== undefined) approval.note = data.note;
        if (data.answer !== undefined) approval.answer = data.answer;
      });
      this.state.open = this.state.open.filter((one) => one.approvalId !== data.approvalId);
    },
    "edit/applied": ({ data }) => {
      if (data.outcome !== "applied") return;
      this.onCall(data.callId, (call) => {
        if (!call.changed.includes(data.uri)) call.changed = [...call.changed, data.uri];
      });
    },
    "edit/undone": ({ seq, data }) => {
      const many = data.hunks.length === 1 ? "a place" : `${data.hunks.length} places`;
      this.notice(seq, `Undone: ${many} in ${lastPart(data.uri)}`);
    },
    "context/summary": ({ seq, data }) => {
      this.notice(seq, "Earlier messages were summarised for the model", data.text);
    },
    "context/pruned": ({ seq, data }) => {
      const many = data.results.length === 1 ? "one old result" : `${data.results.length} old results`;
      this.notice(seq, `The model is shown ${many} shortened`);
    },
    "context/rewound": ({ seq, data }) => {
      this.rewinds.push({ seq, to: data.to });
      const stretches = gone(this.rewinds);
      this.state.gone = new Set(
        this.state.items.filter((one) => isGone(one.seq, stretches)).map((one) => one.id),
      );
      this.notice(seq, "The conversation was taken back");
      for (const item of this.state.items) this.touch(item);
    },
    "todo/write": ({ data }) => {
      this.state.todo = data.items;
    },
  };

  private note(note: Note): void {
    switch (note.type) {
      case "tool/output":
        this.onCall(note.data.callId, (call) => {
          call.output = (call.output + note.data.text).slice(-OUTPUT_TAIL);
        });
        return;
      case "status":
        this.state.status = note.data;
        return;
      case "live":
        this.state.live = true;
    }
  }

  private userMessage(seq: number, data: Facts["user/message"]): void {
    const source = data.source ?? "user";
    this.state.waiting = this.state.waiting.filter((one) => one.key !== data.key);
    if (source === "context") return; // it stands as chips on the message that it came with
    const sent = data.key === undefined ? undefined : this.added.get(data.key);
    if (data.key !== undefined) this.added.delete(data.key);
    this.closeAnswer();
    this.push({
      kind: "user",
      id: `user-${seq}`,
      seq,
      turn: data.turn,
      ...(data.key === undefined ? {} : { key: data.key }),
      text: data.content,
      source,
      context: (sent?.context ?? []).map(contextLabel),
    });
  }

  private chunk(seq: number, data: Facts["assistant/chunk"]): void {
    delete this.state.status;
    if (data.text || data.reasoning) {
      const answer = this.openAnswer(seq, data.turn, data.step);
      answer.text += data.text ?? "";
      answer.reasoning += data.reasoning ?? "";
      this.touch(answer);
    }
    for (const piece of data.toolCalls ?? []) {
      const call = (this.proposed[piece.index] ??= this.newCall(seq, data.turn, data.step, ""));
      call.name += piece.name ?? "";
      call.arguments += piece.arguments ?? "";
      this.touch(call);
    }
  }

  private message(seq: number, data: Facts["assistant/message"]): void {
    if (data.content || data.reasoning) {
      const answer = this.openAnswer(seq, data.turn, data.step);
      answer.text = data.content;
      answer.reasoning = data.reasoning ?? "";
      answer.interrupted = data.interrupted ?? false;
    }
    this.closeAnswer();
    const calls = data.toolCalls ?? [];
    calls.forEach((call, index) => {
      const item = this.proposed[index] ?? this.newCall(seq, data.turn, data.step, call.name);
      item.callId = call.callId;
      item.name = call.name;
      item.arguments = call.arguments;
      item.state = "waiting";
      this.calls.set(call.callId, item);
      this.touch(item);
    });
    this.remove(this.proposed.filter((_, index) => index >= calls.length));
    this.proposed = [];
    if (data.usage) {
      this.state.context = data.usage.total;
      this.state.usage = plus(this.state.usage, data.usage);
    }
  }

  private openAnswer(seq: number, turn: number, step: number): AssistantItem {
    if (!this.answer) {
      this.answer = {
        kind: "assistant",
        id: `answer-${seq}`,
        seq,
        turn,
        step,
        text: "",
        reasoning: "",
        streaming: true,
        interrupted: false,
      };
      this.push(this.answer);
    }
    return this.answer;
  }

  private closeAnswer(): void {
    if (!this.answer) return;
    this.answer.streaming = false;
    this.touch(this.answer);
    this.answer = undefined;
  }

  /** An attempt is over without an answer: what it had said is no part of the session. */
  private dropAnswer(): void {
    this.remove([...(this.answer ? [this.answer] : []), ...this.proposed.filter(Boolean)]);
    this.answer = undefined;
    this.proposed = [];
  }

  private newCall(seq: number, turn: number, step: number, name: string): CallItem {
    const id = `call-${seq}-${this.state.items.length}`;
    const call: CallItem = {
      kind: "call", id, seq, turn, step, name, arguments: "", state: "proposed", output: "", changed: [],
    };
    this.push(call);
    return call;
  }

  private onCall(callId: string, change: (call: CallItem) => void): void {
    const call = this.calls.get(callId);
    if (!call) return;
    change(call);
    this.touch(call);
  }

  private onApproval(approvalId: string, change: (approval: Approval) => void): void {
    const approval = this.approvals.get(approvalId);
    if (!approval) return;
    change(approval);
    this.onCall(approval.callId, () => {});
  }

  private notice(seq: number, text: string, detail?: string): void {
    const id = `notice-${seq}`;
    this.push({ kind: "notice", id, seq, text, ...(detail === undefined ? {} : { detail }) });
  }

  private push(item: Item): void {
    this.state.items.push(item);
    this.touch(item);
  }

  private remove(items: Item[]): void {
    if (!items.length) return;
    const ids = new Set(items.map((one) => one.id));
    this.state.items = this.state.items.filter((one) => !ids.has(one.id));
    for (const id of ids) this.state.revisions.delete(id);
  }

  private touch(item: Item): void {
    this.state.revisions.set(item.id, (this.state.revisions.get(item.id) ?? 0) + 1);
  }
}

function settled(isError: boolean, code: string | undefined): CallState {
  if (!isError) return "done";
  if (code !== undefined && DENIED.has(code)) return "denied";
  if (code !== undefined && NOT_RUN.has(code)) return "notRun";
  return "failed";
}

function plus(
  one: SessionState["usage"],
  other: NonNullable<SessionState["usage"]>,
): NonNullable<SessionState["usage"]> {
  return {
    input: (one?.input ?? 0) + other.input,
    output: (one?.output ?? 0) + other.output,
    total: (one?.total ?? 0) + other.total,
    cached: (one?.cached ?? 0) + (other.cached ?? 0),
    reasoning: (one?.reasoning ?? 0) + (other.reasoning ?? 0),
  };
}

export function contextLabel(context: { kind: string; uri?: string; range?: unknown }): string {
  const name = context.uri === undefined ? "" : lastPart(context.uri);
  const range = context.range as { start: { line: number }; end: { line: number } } | undefined;
  switch (context.kind) {
    case "selection": {
      if (!range) return name;
      const [first, last] = [range.start.line + 1, range.end.line + 1];
      return first === last ? `${name}:${first}` : `${name}:${first}–${last}`;
    }
    case "diagnostics":
      return name ? `problems in ${name}` : "problems";
    case "terminal":
      return "terminal";
    case "text":
      return "text";
    default:
      return name;
  }
}

export function lastPart(uri: string): string {
  const path = uri.split(/[?#]/)[0] ?? uri;
  const name = path.slice(path.lastIndexOf("/") + 1);
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function firstLine(text: string): string {
  return (text.trim().split("\n")[0] ?? "").slice(0, 120);
}
