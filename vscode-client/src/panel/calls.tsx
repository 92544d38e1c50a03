// Tool calls: quiet lines once they are done, with all that was read, run or changed behind them.

import type { CallItem, CallState } from "../session/state";
import { lastPart } from "../session/reduce";
import { visible } from "../session/words";
import { useStore } from "./app";
import { Fold, Icon } from "./widgets";

const ICONS: Record<CallState, [string, string]> = {
  proposed: ["loading", "is being written"],
  waiting: ["clock", "waits"],
  running: ["loading", "runs"],
  done: ["check", "done"],
  failed: ["error", "failed"],
  denied: ["circle-slash", "not allowed"],
  notRun: ["debug-step-over", "not run"],
};

export function CallLine({ item }: { item: CallItem }) {
  const store = useStore();
  const [icon, word] = ICONS[item.state];
  const { verb, object } = named(item);
  const failed = item.state === "done" && exitCode(item) ? " bad" : "";
  return (
    <>
      <Fold
        class={`call ${item.state}${failed}`}
        open={store.isOpen(item.id)}
        onToggle={(open) => store.setOpen(item.id, open)}
        summary={
          <>
            <Icon name={failed ? "error" : icon} spin={icon === "loading"} />
            <span class="call-verb">{verb}</span>
            <code class="call-object" title={object}>{object}</code>
            <span class="call-note">{note(item) ?? word}</span>
          </>
        }
      >
        <Details item={item} />
      </Fold>
      {item.state === "running" && item.output && (
        <pre class="tail" aria-label="Output">{tail(item.output)}</pre>
      )}
    </>
  );
}

function Details({ item }: { item: CallItem }) {
  const store = useStore();
  return (
    <div class="call-details">
      {item.changed.map((uri) => (
        <button type="button" class="button link" key={uri} onClick={() => store.do({ do: "openFile", uri })}>
          {lastPart(uri)}
        </button>
      ))}
      <pre tabIndex={0} aria-label="Arguments">{pretty(item.arguments)}</pre>
      {item.result !== undefined && <pre tabIndex={0} aria-label="Result">{visible(item.result, true)}</pre>}
    </div>
  );
}

type Row = Record<string, unknown>;

function args(item: CallItem): Row {
  try {
    const value: unknown = JSON.parse(item.arguments || "{}");
    return typeof value === "object" && value !== null ? (value as Row) : {};
  } catch {
    return {};
  }
}

const VERBS: Record<string, [running: string, done: string, field: string]> = {
  read_file: ["Reads", "Read", "path"],
  list_files: ["Lists", "Listed", "pattern"],
  search: ["Searches", "Searched", "pattern"],
  write_file: ["Writes", "Wrote", "path"],
  edit_file: ["Edits", "Edited", "path"],
  delete_file: ["Deletes", "Deleted", "path"],
  rename_file: ["Renames", "Renamed", "path"],
  run_command: ["Runs", "Ran", "command"],
  todo_write: ["Plans", "Planned", ""],
  ask_user: ["Asks", "Asked", "question"],
  use_skill: ["Uses skill", "Used skill", "name"],
};

/** What a call does, in words of people. */
function named(item: CallItem): { verb: string; object: string } {
  const known = VERBS[item.name];
  if (!known) return { verb: visible(item.name) || "Tool", object: "" };
  const [running, done, field] = known;
  const value = field ? args(item)[field] : "";
  const verb = item.state === "done" ? done : item.state === "running" ? running : (running.replace(/s$/, ""));
  return { verb, object: typeof value === "string" ? visible(value).slice(0, 300) : "" };
}

function exitCode(item: CallItem): number {
  const code = item.meta?.["exitCode"];
  return typeof code === "number" ? code : 0;
}

function note(item: CallItem): string | undefined {
  const parts: string[] = [];
  if (item.name === "run_command" && item.state === "done") parts.push(`exit ${exitCode(item)}`);
  if (item.name === "read_file" && item.state === "done" && item.result !== undefined) {
    parts.push(`${item.result.split("\n").length} lines`);
  }
  const hunks = item.meta?.["hunks"] as { accepted?: number; rejected?: number } | undefined;
  if (hunks?.rejected) parts.push(`${hunks.accepted ?? 0} of ${(hunks.accepted ?? 0) + hunks.rejected} hunks`);
  if (item.startedAt !== undefined && item.endedAt !== undefined && item.endedAt - item.startedAt >= 100) {
    parts.push(`${((item.endedAt - item.startedAt) / 1000).toFixed(1)} s`);
  }
  if (item.state === "failed" && item.code) parts.push(item.code.toLowerCase().replaceAll("_", " "));
  return parts.length ? parts.join(" · ") : item.state === "done" ? "" : undefined;
}

function pretty(raw: string): string {
  try {
    return visible(JSON.stringify(JSON.parse(raw || "{}"), null, 2), true);
  } catch {
    return visible(raw, true);
  }
}

/** The last lines of what a call prints. */
function tail(output: string): string {
  return visible(output.replace(/\n$/, "").split("\n").slice(-8).join("\n"), true);
}
