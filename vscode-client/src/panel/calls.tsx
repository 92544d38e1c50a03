// Tool calls: quiet lines once they are done, with all that was read, run or changed behind them.

import { lastPart } from "../session/labels";
import type { CallItem, CallState } from "../session/state";
import { visible } from "../session/words";
import { callWords, exitCode, named, note } from "./callwords";
import { HunkDiff } from "./diff";
import { groupWords } from "./rows";
import { useStore } from "./use";
import { Fold, Icon } from "./widgets";

const ICONS: Record<CallState, string> = {
  proposed: "loading",
  waiting: "clock",
  running: "loading",
  done: "check",
  failed: "error",
  denied: "circle-slash",
  notRun: "debug-step-over",
};

/** The most that is shown of an argument or a result, in characters; the rest is in the log. */
const SHOWN = 20_000;

export function CallLine({ item }: { item: CallItem }) {
  const store = useStore();
  const icon = ICONS[item.state];
  const { verb, object } = named(item);
  const bad = item.state === "done" && (exitCode(item) ?? 0) !== 0;
  return (
    <>
      <Fold
        class={`call ${item.state}${bad ? " bad" : ""}`}
        open={store.isOpen(item.id)}
        onToggle={(open) => store.setOpen(item.id, open)}
        summary={
          <>
            <Icon name={bad ? "error" : icon} spin={icon === "loading"} />
            <span class="call-verb">{verb}</span>
            <code class="call-object" title={object}>
              {object}
            </code>
            <span class="call-note">{note(item)}</span>
          </>
        }
      >
        <Details item={item} />
      </Fold>
      {item.state === "running" && item.output && (
        <pre class="tail" aria-label="Output">
          {tail(item.output)}
        </pre>
      )}
    </>
  );
}

/** Calls that only looked at something, in one line. */
export function CallGroup({ id, calls }: { id: string; calls: CallItem[] }) {
  const store = useStore();
  return (
    <Fold
      class="call group done"
      open={store.isOpen(id)}
      onToggle={(open) => store.setOpen(id, open)}
      summary={
        <>
          <Icon name="check" />
          <span class="call-verb">{groupWords(calls)}</span>
        </>
      }
    >
      <ul class="group-calls">
        {calls.map((call) => (
          <li key={call.id} aria-label={callWords(call)}>
            <CallLine item={call} />
          </li>
        ))}
      </ul>
    </Fold>
  );
}

function Details({ item }: { item: CallItem }) {
  const store = useStore();
  const { approval } = item;
  const files = approval?.subject.kind === "change" ? approval.subject.files : [];
  const said = approval?.note ?? approval?.answer;
  return (
    <div class="call-details">
      {item.changed.length > 0 && (
        <div class="changed">
          {item.changed.map((uri) => (
            <button
              type="button"
              class="button link"
              key={uri}
              title={uri}
              onClick={() => store.do({ do: "openFile", uri })}
            >
              Open {visible(lastPart(uri))}
            </button>
          ))}
        </div>
      )}
      {said !== undefined && (
        <div class="said">
          You: <bdi>{visible(said, true)}</bdi>
        </div>
      )}
      {files.map((file) =>
        file.hunks.map((hunk) => (
          <div class={`hunk ${approval?.hunks[hunk.hunkId] ?? ""}`} key={hunk.hunkId}>
            <div class="hunk-head">
              <span>
                {visible(lastPart(file.uri))}:{hunk.line + 1}
              </span>
              <span>
                {approval?.hunks[hunk.hunkId]
                  ?? (approval?.outcome === "allowed" ? "accepted" : approval?.outcome)}
              </span>
            </div>
            <HunkDiff hunk={hunk} />
          </div>
        )),
      )}
      {!files.length && (
        <pre tabIndex={0} aria-label="Arguments">
          {cut(pretty(item))}
        </pre>
      )}
      {item.result !== undefined && (
        <pre tabIndex={0} aria-label="Result">
          {cut(item.result)}
        </pre>
      )}
    </div>
  );
}

function pretty(item: CallItem): string {
  const raw = item.arguments || "{}";
  try {
    const value: unknown = JSON.parse(raw);
    if (item.name === "run_command") {
      const { command } = value as { command?: unknown };
      if (typeof command === "string") return command;
    }
    return JSON.stringify(value, null, 2);
  } catch {
    return raw;
  }
}

function cut(text: string): string {
  const more = text.length - SHOWN;
  const shown = visible(more > 0 ? text.slice(0, SHOWN) : text, true);
  return more > 0 ? `${shown}\n… ${more.toLocaleString()} more characters` : shown;
}

/** The last lines of what a call prints. */
function tail(output: string): string {
  return visible(output.replace(/\n$/, "").split("\n").slice(-8).join("\n"), true);
}
