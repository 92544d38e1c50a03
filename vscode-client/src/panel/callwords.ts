// What a tool call does, in words of people.

import { lastPart } from "../session/labels";
import type { CallItem, CallState } from "../session/state";
import { visible } from "../session/words";

const STATES: Record<CallState, string> = {
  proposed: "is being written",
  waiting: "waits",
  running: "runs",
  done: "",
  failed: "failed",
  denied: "not allowed",
  notRun: "not run",
};

/** Not yet, now, and done; and the argument that says what it is about. */
const VERBS: Record<string, [will: string, does: string, did: string, field: string]> = {
  read_file: ["Read", "Reading", "Read", "path"],
  list_files: ["List", "Listing", "Listed", "pattern"],
  search: ["Search", "Searching", "Searched", "pattern"],
  write_file: ["Write", "Writing", "Wrote", "path"],
  edit_file: ["Edit", "Editing", "Edited", "path"],
  delete_file: ["Delete", "Deleting", "Deleted", "path"],
  rename_file: ["Rename", "Renaming", "Renamed", "path"],
  run_command: ["Run", "Running", "Ran", "command"],
  todo_write: ["Plan", "Planning", "Planned", ""],
  ask_user: ["Ask", "Asking", "Asked", "question"],
  use_skill: ["Use skill", "Using skill", "Used skill", "name"],
};

/** The most of an argument that stands in a line, in characters. */
const LINE = 300;

export function named(item: CallItem): { verb: string; object: string } {
  const known = Object.hasOwn(VERBS, item.name) ? VERBS[item.name] : undefined;
  if (!known) return { verb: visible(item.name).slice(0, LINE) || "Tool", object: "" };
  const [will, does, did, field] = known;
  const verb = item.state === "done" ? did : item.state === "running" ? does : will;
  const values = args(item);
  const value = values[field] ?? (field === "pattern" ? values["path"] : undefined);
  return { verb, object: typeof value === "string" ? visible(value.slice(0, LINE)) : "" };
}

function args(item: CallItem): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(item.arguments || "{}");
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    // While it is being written, the first argument may be whole already.
    const [, name, text] = /"(\w+)"\s*:\s*"((?:[^"\\]|\\.)*)/.exec(item.arguments) ?? [];
    return name === undefined || text === undefined ? {} : { [name]: text };
  }
}

export function exitCode(item: CallItem): number | undefined {
  const code = item.meta?.["exitCode"];
  return typeof code === "number" ? code : undefined;
}

/** What came of it, in a few words. */
export function note(item: CallItem): string {
  const parts: string[] = [];
  const code = exitCode(item);
  if (code !== undefined) parts.push(`exit ${code}`);
  const lines = linesRead(item);
  if (lines !== undefined) parts.push(lines === 1 ? "1 line" : `${lines} lines`);
  const decisions = Object.values(item.approval?.hunks ?? {});
  const rejected = decisions.filter((one) => one === "rejected").length;
  if (rejected && item.state !== "denied")
    parts.push(`${decisions.length - rejected} of ${decisions.length} hunks`);
  if (item.state !== "done") parts.push(STATES[item.state]);
  if (item.state === "failed" && item.code && code === undefined)
    parts.push(item.code.toLowerCase().replaceAll("_", " "));
  const { startedAt, endedAt } = item;
  if (startedAt !== undefined && endedAt !== undefined && endedAt - startedAt >= 100) {
    parts.push(`${((endedAt - startedAt) / 1000).toFixed(1)} s`);
  }
  return parts.join(" · ");
}

function linesRead(item: CallItem): number | undefined {
  const read = item.meta?.["read"] as { from?: unknown; to?: unknown } | undefined;
  if (typeof read?.from !== "number" || typeof read.to !== "number") return undefined;
  return Math.max(0, read.to - read.from + 1);
}

/** A whole call in one line, for those who listen. */
export function callWords(item: CallItem): string {
  const { verb, object } = named(item);
  const files = item.changed.map(lastPart).join(", ");
  return [`${verb} ${object}`.trim(), note(item), files && `changed ${files}`]
    .filter(Boolean)
    .join(", ");
}
