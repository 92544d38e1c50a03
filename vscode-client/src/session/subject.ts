// The subject of an approval, read from the open object that travels: nothing of it is trusted.

import type { FileSubject, HunkSubject, PlaceSubject, Subject } from "./state";

type Row = Record<string, unknown>;

export function readSubject(raw: Row): Subject {
  const reason = text(raw["reason"]);
  switch (raw["kind"]) {
    case "change":
      return { kind: "change", reason, files: rows(raw["files"]).map(file) };
    case "command": {
      const timeout = raw["timeout"];
      return {
        kind: "command",
        reason,
        command: text(raw["command"]),
        cwd: text(raw["cwd"]),
        ...(typeof timeout === "number" ? { timeout } : {}),
      };
    }
    case "read":
      return {
        kind: "read",
        reason,
        places: rows(raw["places"]).map(place),
      };
    case "question":
      return {
        kind: "question",
        reason,
        question: text(raw["question"]),
        choices: texts(raw["choices"]),
      };
    default:
      return { kind: "other", reason, raw };
  }
}

function file(row: Row): FileSubject {
  const newUri = text(row["newUri"]);
  return {
    uri: text(row["uri"]),
    ...(newUri ? { newUri } : {}),
    kind: text(row["kind"]),
    hunks: rows(row["hunks"]).map(hunk),
  };
}

function place(row: Row): PlaceSubject {
  return {
    uri: text(row["uri"]),
    shown: text(row["shown"]) || text(row["uri"]),
    outside: row["inside"] === false,
    secret: row["secret"] === true,
  };
}

function hunk(row: Row): HunkSubject {
  const line = row["line"];
  const base = { hunkId: text(row["hunkId"]), line: typeof line === "number" ? line : 0 };
  if (row["truncated"] === true) return { ...base, truncated: true };
  return { ...base, oldText: text(row["oldText"]), newText: text(row["newText"]) };
}

/** How many lines a change adds and removes; what is cut off is not counted. */
export function counts(files: FileSubject[]): { hunks: number; added: number; removed: number } {
  const all = files.flatMap((one) => one.hunks);
  return {
    hunks: all.length,
    added: sum(all.map((one) => lines(one.newText))),
    removed: sum(all.map((one) => lines(one.oldText))),
  };
}

function lines(of: string | undefined): number {
  if (!of) return 0;
  const count = of.split("\n").length;
  return of.endsWith("\n") ? count - 1 : count;
}

function sum(values: number[]): number {
  return values.reduce((one, other) => one + other, 0);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];
}

function rows(value: unknown): Row[] {
  return Array.isArray(value)
    ? value.filter(
        (one): one is Row => typeof one === "object" && one !== null && !Array.isArray(one),
      )
    : [];
}
