// A question to the person: all of it, and the choices. Nothing is chosen beforehand.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ApproveParams } from "../wire/types";
import { lastPart } from "../session/labels";
import type { Approval } from "../session/state";
import { counts } from "../session/subject";
import { visible } from "../session/words";
import { leaveTo, toNextHunk } from "./focus";
import { SubjectView } from "./subjects";
import { useStore, useView } from "./use";
import { Button, Field } from "./widgets";

export type Answer = Omit<ApproveParams, "approvalId">;
export type Send = (answer: Answer) => void;

/** A card answers to nobody in its first moments: a click then was meant for something else. */
export const QUIET = 300;

const LATE = "This was answered already: what you chose just now changes nothing.";
const ELSEWHERE = "Another window asks this, and is answered there.";

export function ApprovalCard({ approval }: { approval: Approval }) {
  const store = useStore();
  const { folders, elsewhere } = useView(({ settings, session }) => ({
    folders: settings.folders,
    elsewhere: session?.readOnly ?? false,
  }));
  const [sent, setSent] = useState(false);
  const [hunks, setHunks] = useState<ReadonlySet<string>>(new Set());
  const [noting, setNoting] = useState(false);
  const [note, setNote] = useState("");
  const [early, setEarly] = useState(true);
  const card = useRef<HTMLElement>(null);
  const { approvalId, subject, choices } = approval;
  useLayoutEffect(() => () => leaveTo(card.current, "[data-item]"), []);
  useEffect(() => {
    const timer = setTimeout(() => setEarly(false), QUIET);
    return () => clearTimeout(timer);
  }, []);

  const off = sent || early || elsewhere;
  const send: Send = (answer) => {
    if (off) return;
    const named = Object.keys(answer.hunks ?? {});
    if (named.some((id) => hunks.has(id))) return;
    // A whole answer is sent once, and one about a hunk once for that hunk.
    if (named.length) {
      toNextHunk(card.current);
      setHunks(new Set([...hunks, ...named]));
    } else {
      leaveTo(card.current, "[data-item]");
      setSent(true);
    }
    void store.ask("turnbuckle/approve", { approvalId, ...answer }).then((result) => {
      if (result?.accepted === false) store.setProblem(LATE);
      if (result !== undefined) return;
      // It was refused, so that it is still open.
      setSent(false);
      setHunks((before) => new Set([...before].filter((id) => !named.includes(id))));
    });
  };
  const reject = (): void =>
    send({ decision: "reject", ...(note.trim() ? { note: note.trim() } : {}) });
  const cut =
    subject.kind === "change"
    && subject.files.some((file) => file.hunks.some((hunk) => hunk.truncated));
  const review = (
    <Button
      kind={cut ? "primary" : "secondary"}
      onClick={() => store.do({ do: "review", approvalId })}
    >
      Review
    </Button>
  );
  return (
    <section
      class={`approval${sent ? " sent" : ""}${early ? " early" : ""}`}
      role="group"
      aria-label={`Question: ${title(approval)}`}
      tabIndex={-1}
      ref={card}
    >
      <div class="approval-head">
        <h2>{title(approval)}</h2>
        <span class="muted">{aside(approval)}</span>
      </div>
      <SubjectView
        approval={approval}
        folders={folders}
        send={send}
        disabled={off}
        decided={hunks}
      />
      {elsewhere && <div class="choices muted">{ELSEWHERE}</div>}
      {subject.kind !== "question" && !elsewhere && (
        <div class="choices">
          {choices.includes("allow") && (
            <Button
              kind={cut ? "secondary" : "primary"}
              disabled={off}
              onClick={() => send({ decision: "allow" })}
            >
              {subject.kind === "change" ? acceptWords(approval) : "Allow once"}
            </Button>
          )}
          {subject.kind === "change" && review}
          {!noting && (
            <Button disabled={off} onClick={() => setNoting(true)}>
              Reject…
            </Button>
          )}
          {choices.includes("allowForSession") && (
            <Button
              kind="link"
              disabled={off}
              onClick={() => send({ decision: "allow", remember: "session" })}
            >
              Allow for this session
            </Button>
          )}
        </div>
      )}
      {noting && !elsewhere && (
        <div class="note" role="group" aria-label="Reject">
          <Field
            label="Why not? (may be left empty)"
            value={note}
            onChange={setNote}
            onEnter={reject}
            onEscape={() => {
              setNoting(false);
              card.current?.focus();
            }}
            focus
          />
          <Button kind="primary" disabled={off} onClick={reject}>
            Reject
          </Button>
        </div>
      )}
    </section>
  );
}

function acceptWords({ hunks }: Approval): string {
  return Object.keys(hunks).length ? "Accept the rest" : "Accept all";
}

const KINDS: Record<string, string> = { create: "Create", delete: "Delete", rename: "Rename" };

function title({ subject }: Approval): string {
  switch (subject.kind) {
    case "change": {
      const [file] = subject.files;
      if (!file || subject.files.length > 1) return `Edit ${subject.files.length} files?`;
      const to = file.newUri === undefined ? "" : ` to ${visible(lastPart(file.newUri))}`;
      return `${KINDS[file.kind] ?? "Edit"} ${visible(lastPart(file.uri))}${to}?`;
    }
    case "command":
      return "Run this command?";
    case "read":
      return subject.places.some((place) => place.secret)
        ? "Read a file that may hold secrets?"
        : subject.places.some((place) => place.outside)
          ? "Read outside of the workspace?"
          : "Read this?";
    case "question":
      return "The agent asks";
    default:
      return "Allow this?";
  }
}

function aside({ subject }: Approval): string {
  if (subject.kind !== "change") return "";
  const { hunks, added, removed } = counts(subject.files);
  return `${hunks} ${hunks === 1 ? "hunk" : "hunks"} · +${added} −${removed}`;
}
