// The tool calls of a session, from the first letter to the result, and what is asked about them.

import type { CallDelta, Facts } from "../wire/types";
import type { Items } from "./items";
import type { Approval, CallItem, CallState, Subject } from "./state";
import { readSubject } from "./subject";

/** The most that is kept of what a running call prints, in characters. */
export const OUTPUT_TAIL = 8 * 1024;

const DENIED = new Set(["DENIED"]);
const OUTCOMES = new Map<string, CallState>([
  ["allowed", "done"],
  ["rejected", "denied"],
]);
const NOT_RUN = new Set(["ABORTED_BEFORE_DISPATCH", "TOOL_NOT_STARTED"]);

export class Calls {
  private readonly known = new Map<string, CallItem>();
  private readonly approvals = new Map<string, Approval>();
  private proposed: CallItem[] = [];

  constructor(private readonly items: Items) {}

  /** A piece of a call that the model is still writing. */
  write(seq: number, at: { turn: number; step: number }, piece: CallDelta): void {
    const { index } = piece;
    if (!Number.isInteger(index) || index < 0 || index > 999) return;
    const call = (this.proposed[index] ??= this.open(seq, at, "", String(index)));
    call.name += piece.name ?? "";
    call.arguments += piece.arguments ?? "";
    this.items.touch(call);
  }

  /** An answer is whole: these are its calls, and no others. */
  settle(seq: number, data: Facts["assistant/message"]): void {
    const calls = data.toolCalls ?? [];
    calls.forEach((call, index) => {
      const item = this.proposed[index] ?? this.open(seq, data, call.name, String(index));
      item.callId = call.callId;
      item.name = call.name;
      item.arguments = call.arguments;
      item.state = "waiting";
      this.known.set(call.callId, item);
      this.items.touch(item);
    });
    this.items.remove(this.proposed.filter((_, index) => index >= calls.length));
    this.proposed = [];
  }

  /** What was being written is no part of the session. */
  drop(): void {
    this.items.remove(this.proposed.filter(Boolean));
    this.proposed = [];
  }

  take(seq: number, data: Facts["tool/call"]): void {
    const call = this.known.get(data.callId) ?? this.open(seq, data, data.name, data.callId);
    call.callId = data.callId;
    call.name = data.name;
    call.arguments = data.arguments;
    call.state = "waiting";
    this.known.set(data.callId, call);
    this.items.touch(call);
  }

  start(time: number, callId: string): void {
    this.change(callId, (call) => {
      call.state = "running";
      call.startedAt = time;
      call.output = "";
    });
  }

  print(callId: string, text: string): void {
    this.change(callId, (call) => {
      call.output = (call.output + text).slice(-OUTPUT_TAIL);
    });
  }

  end(time: number, data: Facts["tool/result"]): void {
    this.change(data.callId, (call) => {
      call.result = data.content;
      if (data.code !== undefined) call.code = data.code;
      if (data.meta !== undefined) call.meta = data.meta;
      call.endedAt = time;
      call.state = settled(data.isError, data.code);
    });
  }

  changed(callId: string, uri: string): void {
    this.change(callId, (call) => {
      if (!call.changed.includes(uri)) call.changed = [...call.changed, uri];
    });
  }

  ask(seq: number, data: Facts["approval/asked"]): void {
    const subject = readSubject(data.subject);
    const callId = this.known.has(data.callId) ? data.callId : this.stand(seq, data, subject);
    const { approvalId, choices } = data;
    const approval: Approval = { approvalId, callId, subject, choices, hunks: {} };
    this.approvals.set(data.approvalId, approval);
    this.items.state.open = [...this.items.state.open, approval];
    this.change(callId, (call) => {
      call.approval = approval;
    });
  }

  /** What is asked and is no call's, such as whether to go on, stands where a call would. */
  private stand(seq: number, { approvalId }: Facts["approval/asked"], subject: Subject): string {
    const { turn, running } = this.items.state;
    const name = subject.kind === "question" ? "ask_user" : "";
    const call = this.open(seq, { turn, step: running?.step ?? 0 }, name, approvalId);
    call.state = "waiting";
    call.arguments = JSON.stringify(subject.kind === "question" ? subject : {});
    this.known.set(approvalId, call);
    return approvalId;
  }

  decideHunk(data: Facts["approval/hunk"]): void {
    this.decide(data.approvalId, (approval) => {
      approval.hunks = { ...approval.hunks, [data.hunkId]: data.decision };
    });
  }

  decided(data: Facts["approval/decided"]): void {
    this.decide(data.approvalId, (approval) => {
      approval.outcome = data.outcome;
      approval.by = data.by;
      if (data.note !== undefined) approval.note = data.note;
      if (data.answer !== undefined) approval.answer = data.answer;
      // No result follows to what is no call.
      if (approval.callId === data.approvalId)
        this.change(approval.callId, (call) => {
          call.state = OUTCOMES.get(data.outcome) ?? "notRun";
        });
    });
    const { state } = this.items;
    state.open = state.open.filter((one) => one.approvalId !== data.approvalId);
  }

  private decide(approvalId: string, change: (approval: Approval) => void): void {
    const approval = this.approvals.get(approvalId);
    if (!approval) return;
    change(approval);
    this.change(approval.callId, () => {});
  }

  private change(callId: string, change: (call: CallItem) => void): void {
    const call = this.known.get(callId);
    if (!call) return;
    change(call);
    this.items.touch(call);
  }

  private open(
    seq: number,
    at: { turn: number; step: number },
    name: string,
    which: string,
  ): CallItem {
    const call: CallItem = {
      kind: "call",
      id: `call-${at.turn}-${at.step}-${which}`,
      seq,
      turn: at.turn,
      step: at.step,
      name,
      arguments: "",
      state: "proposed",
      output: "",
      changed: [],
    };
    this.items.push(call);
    return call;
  }
}

function settled(isError: boolean, code: string | undefined): CallState {
  if (!isError) return "done";
  if (code !== undefined && DENIED.has(code)) return "denied";
  if (code !== undefined && NOT_RUN.has(code)) return "notRun";
  return "failed";
}
