// What a screen reader is told by itself: states and questions, never the words as they stream.

import { useEffect, useRef, useState } from "preact/hooks";
import { headline } from "../session/words";
import { endWords } from "./items";
import { useView } from "./use";

export function Announcer() {
  const [said, setSaid] = useState({ text: "", count: 0 });
  const say = (text: string): void => setSaid(({ count }) => ({ text, count: count + 1 }));
  const { first, running, live, end, problem, sessionId, server } = useView(
    ({ state, problem, session, server }) => ({
      first: state.open[0],
      running: state.running !== undefined,
      live: state.live,
      end: state.lastEnd,
      problem,
      sessionId: session?.sessionId,
      server:
        server.state === "failed" ? (server.message ?? "The server does not run.") : undefined,
    }),
  );
  const question = first ? `The agent asks: ${headline(first)}` : undefined;
  useEffect(() => {
    if (live && question !== undefined) say(question);
  }, [question, live]);
  // Only what changes is news, not what was so when the session was opened.
  const before = useRef<{ sessionId: string | undefined; running: boolean } | undefined>(undefined);
  useEffect(() => {
    if (!live) {
      before.current = undefined;
      return;
    }
    const known = before.current?.sessionId === sessionId ? before.current : undefined;
    before.current = { sessionId, running };
    if (!known || known.running === running) return;
    say(
      running ? "The agent works." : end ? `The turn ended: ${endWords(end)}.` : "The turn ended.",
    );
  }, [running, live, sessionId]);
  useEffect(() => {
    if (problem !== undefined) say(problem);
  }, [problem]);
  useEffect(() => {
    if (server !== undefined) say(server);
  }, [server]);
  return (
    <div class="unseen" role="status" aria-live="polite">
      {/* The same words a second time are news, too: they stand in an element of their own. */}
      <span key={said.count}>{said.text}</span>
    </div>
  );
}
