// An approval in words: a line for a list, and all of it for reading before it is allowed.

import type { Approval } from "./state";
import { counts } from "./subject";
import { lastPart } from "./labels";

/** The most characters of a command that may be allowed from one line. */
const LINE = 200;

/** One line that names what would happen. */
export function headline(approval: Approval): string {
  const { subject } = approval;
  switch (subject.kind) {
    case "command":
      return `Run ${visible(subject.command)}`;
    case "change": {
      const { hunks, added, removed } = counts(subject.files);
      const names = subject.files.map((file) => lastPart(file.uri)).join(", ");
      return `Edit ${visible(names)} (${hunks} ${hunks === 1 ? "hunk" : "hunks"}, +${added} −${removed})`;
    }
    case "read":
      return `Read ${visible(subject.places.map((place) => place.shown).join(", "))}`;
    case "question":
      return visible(subject.question);
    default:
      return "Something that this version of the extension cannot show";
  }
}

/** Whether its line tells all of it, so that it can be allowed without being shown first. */
export function isPlain(approval: Approval): boolean {
  const { subject } = approval;
  switch (subject.kind) {
    case "command":
      return subject.command.length <= LINE && visible(subject.command) === subject.command;
    case "read":
    case "question":
      return true;
    default:
      return false;
  }
}

/** All of it, as Markdown for a document that is only read. */
export function whole(approval: Approval): string {
  const { subject } = approval;
  const head = `# ${headline(approval)}\n\n${visible(subject.reason)}\n`;
  switch (subject.kind) {
    case "command":
      return `${head}\nIn ${subject.cwd}:\n\n${fenced(subject.command, "sh")}`;
    case "change":
      return (
        head +
        subject.files
          .map((file) => `\n## ${file.uri}\n\n${file.hunks.map(hunk).join("\n")}`)
          .join("\n")
      );
    case "read":
      return `${head}\n${subject.places.map((place) => `- ${place.uri}`).join("\n")}\n`;
    case "question":
      return `${head}\n${subject.choices.map((choice) => `- ${visible(choice)}`).join("\n")}\n`;
    default:
      return `${head}\n${fenced(JSON.stringify(subject.raw, null, 2), "json")}`;
  }
}

function hunk(one: {
  line: number;
  oldText?: string;
  newText?: string;
  truncated?: boolean;
}): string {
  if (one.truncated)
    return `Line ${one.line + 1}: too long to be shown here; review it in the editor.\n`;
  const rows = (text: string | undefined, sign: string): string =>
    (text ?? "")
      .replace(/\n$/, "")
      .split("\n")
      .filter((row, _, all) => row || all.length > 1)
      .map((row) => sign + row)
      .join("\n");
  const parts = [rows(one.oldText, "-"), rows(one.newText, "+")].filter(Boolean);
  return `Line ${one.line + 1}:\n\n${fenced(parts.join("\n"), "diff")}`;
}

/** A fence that the text cannot break out of, with characters that hide made visible. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${visible(text, true)}\n${fence}\n`;
}

// What changes how a line reads without being seen: controls, bidirectional marks, invisible ones.
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** Text with every character that hides spelt out; line ends too, unless they are to be kept. */
export function visible(text: string, lines = false): string {
  const spelt = text.replace(
    HIDDEN,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
  return lines ? spelt : spelt.replace(/\n/g, "\\n").replace(/\t/g, "\\t");
}
