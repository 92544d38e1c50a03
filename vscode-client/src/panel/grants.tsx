// What was allowed for the rest of the session, and how to take it back.

import { useEffect, useRef, useState } from "preact/hooks";
import type { SessionGrant } from "../wire/types";
import { headline } from "../session/words";
import { readSubject } from "../session/subject";
import { escapes } from "./focus";
import { useStore, useView } from "./use";
import { Button } from "./widgets";

export function Grants() {
  const store = useStore();
  const { sessionId, open } = useView((view) => ({
    sessionId: view.session?.sessionId,
    open: view.state.open, // another one whenever something is asked or decided
  }));
  const [grants, setGrants] = useState<SessionGrant[] | undefined>(undefined);
  const page = useRef<HTMLDivElement>(null);
  useEffect(() => page.current?.focus(), []);
  useEffect(() => {
    if (sessionId === undefined) return;
    void store
      .ask("turnbuckle/grants", { sessionId })
      .then((found) => found && setGrants(found.grants));
  }, [sessionId, open]);
  const revoke = async (grantId: string): Promise<void> => {
    if (
      sessionId === undefined
      || !(await store.ask("turnbuckle/grants/revoke", { sessionId, grantId }))
    )
      return;
    setGrants((before) => before?.filter((one) => one.grantId !== grantId));
    page.current?.focus();
  };
  return (
    <div
      class="sessions"
      ref={page}
      tabIndex={-1}
      role="region"
      aria-label="Allowed in this session"
      onKeyDown={(event) => escapes(event) && store.back()}
    >
      {grants?.length === 0 && (
        <p class="muted">Nothing: you are asked before each edit and each command.</p>
      )}
      <ul class="grants">
        {grants?.map((grant) => (
          <li class="grant" key={grant.grantId}>
            <code class="grant-what">{words(grant)}</code>
            <Button onClick={() => void revoke(grant.grantId)}>Ask again</Button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function words({ grantId, subject }: SessionGrant): string {
  return headline({
    approvalId: grantId,
    callId: "",
    subject: readSubject(subject),
    choices: [],
    hunks: {},
  });
}
