// What goes on, and how to stop it: one line that is always there, so that nothing jumps.

import { useEffect, useState } from "preact/hooks";
import type { SessionState } from "../session/state";
import type { ServerState } from "../shared/messages";
import { stop, stoppable } from "./doing";
import { goToQuestion } from "./focus";
import { useStore, useView } from "./use";

interface Goes {
  running: SessionState["running"];
  open: number;
  status: SessionState["status"];
  server: ServerState["state"];
  waits: boolean;
  sessionId: string | undefined;
  /** Whether another window runs the session. */
  elsewhere: boolean;
  /** Whether it can be stopped, and whether it was told to. */
  stops: boolean;
  stopping: boolean;
}

export function StateLine() {
  const store = useStore();
  const view = useView((all): Goes => {
    const { state, server, waits, session, stopping } = all;
    const turn = stoppable(all);
    return {
      running: state.running,
      open: state.open.length,
      status: state.status,
      server: server.state,
      waits,
      sessionId: session?.sessionId,
      elsewhere: session?.readOnly ?? false,
      stops: turn !== undefined,
      stopping: turn !== undefined && turn === stopping,
    };
  });
  const now = useSeconds(view.running !== undefined || view.status?.until !== undefined);
  const { running, open, elsewhere, stops, stopping } = view;
  const text = words(view, now);
  const halt = (): void => {
    store.focus();
    void stop(store);
  };
  return (
    <div class={`state-line${open ? " waits" : running ? " runs" : ""}`}>
      {(open > 0 || text) && <span class="dot" aria-hidden="true" />}
      {open > 0 && !stopping && !elsewhere ? (
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
      {stops && (
        <button
          type="button"
          class="button link"
          title="Stop (Escape)"
          disabled={stopping}
          onClick={halt}
        >
          Stop
        </button>
      )}
    </div>
  );
}

function words(goes: Goes, now: number): string {
  const { running, open, status, elsewhere } = goes;
  if (goes.stopping) return "Stopping…";
  if (elsewhere && (running || open)) return "Runs in another window";
  if (status) {
    const wait = status.until === undefined ? 0 : Math.ceil((status.until - now) / 1000);
    return `${status.text}${wait > 0 ? ` · again in ${wait} s` : ""}`;
  }
  if (running)
    return `Working · step ${Math.max(1, running.step)} · ${elapsed(now - running.since)}`;
  if (goes.waits) return "Your message is sent as soon as the server is there";
  const comes = goes.server === "starting" || (goes.server === "running" && !goes.sessionId);
  return comes ? "Starting…" : "";
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
