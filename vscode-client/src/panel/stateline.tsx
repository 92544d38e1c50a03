// What goes on, and how to stop it: one line that is always there, so that nothing jumps.

import { useEffect, useState } from "preact/hooks";
import { stop } from "./doing";
import { goToQuestion } from "./focus";
import { useStore, useView } from "./use";

export function StateLine() {
  const store = useStore();
  const view = useView(({ state, server, waits, session }) => ({
    running: state.running,
    open: state.open.length,
    status: state.status,
    server: server.state,
    waits,
    shown: session !== undefined,
  }));
  const now = useSeconds(view.running !== undefined || view.status?.until !== undefined);
  const [stopping, setStopping] = useState<number | undefined>(undefined);
  const { running, open, status } = view;
  const stops = running !== undefined && stopping === running.turn;
  const wait = status?.until === undefined ? 0 : Math.ceil((status.until - now) / 1000);
  const text = stops
    ? "Stopping…"
    : status
      ? `${status.text}${wait > 0 ? ` · again in ${wait} s` : ""}`
      : running
        ? `Working · step ${Math.max(1, running.step)} · ${elapsed(now - running.since)}`
        : view.waits
          ? "Your message is sent as soon as the server is there"
          : view.server === "starting" || (view.server === "running" && !view.shown)
            ? "Starting…"
            : "";
  return (
    <div class={`state-line${open ? " waits" : running ? " runs" : ""}`}>
      {(open > 0 || text) && <span class="dot" aria-hidden="true" />}
      {open > 0 && !stops ? (
        <button
          type="button"
          class="button link state-text"
          title="Go to the question (Alt+Up)"
          onClick={goToQuestion}
        >
          {open === 1 ? "Waiting for you" : `${open} questions wait for you`}
        </button>
      ) : (
        <span class="state-text" title={text}>
          {text}
        </span>
      )}
      {running && (
        <button
          type="button"
          class="button link"
          disabled={stops}
          onClick={() => {
            setStopping(running.turn);
            void stop(store);
          }}
        >
          Stop
        </button>
      )}
    </div>
  );
}

/** The time, told once a second while it is wanted. */
function useSeconds(wanted: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!wanted) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [wanted]);
  return now;
}

function elapsed(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
