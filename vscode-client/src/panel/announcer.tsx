// What a screen reader is told by itself: states and questions, never the words as they stream.

import { useEffect, useState } from "preact/hooks";
import { headline } from "../session/words";
import type { SessionState } from "../session/state";

export function Announcer(props: { state: SessionState; problem: string | undefined; live: boolean }) {
  const [said, say] = useState("");
  const { state } = props;
  const first = state.open[0];
  const question = first ? `The agent asks: ${headline(first)}` : undefined;
  const running = state.running !== undefined;
  useEffect(() => {
    if (props.live && question !== undefined) say(question);
  }, [question, props.live]);
  useEffect(() => {
    if (!props.live) return;
    if (running) say("A turn runs.");
    else if (state.lastEnd) say(`The turn ended: ${state.lastEnd.kind}.`);
  }, [running, props.live]);
  useEffect(() => {
    if (props.problem !== undefined) say(props.problem);
  }, [props.problem]);
  return (
    <div class="unseen" role="status" aria-live="polite">
      {said}
    </div>
  );
}
