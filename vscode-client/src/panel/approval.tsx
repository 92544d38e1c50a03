// A question to the person: all of it, and the choices. Nothing is chosen beforehand.

import { useState } from "preact/hooks";
import type { ApproveParams } from "../wire/types";
import { lastPart } from "../session/reduce";
import type { Approval, FileSubject } from "../session/state";
import { counts } from "../session/subject";
import { visible } from "../session/words";
import { useStore } from "./app";
import { HunkDiff } from "./diff";
import { Button } from "./widgets";

type Send = (answer: Omit<ApproveParams, "approvalId">) => void;

export function ApprovalCard({ approval }: { approval: Approval }) {
  const store = useStore();
  const [sent, setSent] = useState(false);
  const [noting, setNoting] = useState(false);
  const [note, setNote] = useState("");
  const { approvalId, subject } = approval;
  const send: Send = (answer) => {
    // Whole answers are sent once; single hunks one by one.
    if (!answer.hunks) setSent(true);
    void store.ask("turnbuckle/approve", { approvalId, ...answer }).then((result) => {
      if (result === undefined) setSent(false); // refused: it is still open
    });
  };
  const reject = (): void => send({ decision: "reject", ...(note.trim() ? { note: note.trim() } : {}) });
  return (
    <section class="approval" role="group" aria-label={`Question: ${title(approval)}`}>
      <div class="approval-head">
        <h2>{title(approval)}</h2>
        <span class="muted">{aside(approval)}</span>
      </div>
      <Subject approval={approval} send={send} disabled={sent} />
      {subject.kind !== "question" && (
        <div class="choices">
          <Button kind="primary" disabled={sent} onClick={() => send({ decision: "allow" })}>
            {subject.kind === "change" ? "Accept all" : "Allow once"}
          </Button>
          {approval.choices.includes("allowForSession") && (
            <Button disabled={sent} onClick={() => send({ decision: "allow", remember: "session" })}>
              Allow for this session
            </Button>
          )}
          {subject.kind === "change" && (
            <Button onClick={() => store.do({ do: "review", approvalId })}>Review</Button>
          )}
          <Button disabled={sent} onClick={() => setNoting(!noting)}>Reject…</Button>
        </div>
      )}
      {noting && (
        <form
          class="note"
          onSubmit={(event) => {
            event.preventDefault();
            reject();
          }}
        >
          <input
            aria-label="Why not? (may be left empty)"
            placeholder="Why not? (may be left empty)"
            value={note}
            onInput={(event) => setNote(event.currentTarget.value)}
          />
          <Button kind="primary" disabled={sent} onClick={reject}>Reject</Button>
        </form>
      )}
    </section>
  );
}

function title({ subject }: Approval): string {
  switch (subject.kind) {
    case "change":
      return subject.files.length === 1
        ? `${KINDS[subject.files[0]!.kind] ?? "Edit"} ${visible(lastPart(subject.files[0]!.uri))}?`
        : `Edit ${subject.files.length} files?`;
    case "command":
      return "Run this command?";
    case "read":
      return "Read this?";
    case "question":
      return "The agent asks";
    default:
      return "Allow this?";
  }
}

const KINDS: Record<string, string> = { create: "Create", delete: "Delete", rename: "Rename" };

function aside({ subject }: Approval): string {
  if (subject.kind !== "change") return "";
  const { hunks, added, removed } = counts(subject.files);
  return `${hunks} ${hunks === 1 ? "hunk" : "hunks"} · +${added} −${removed}`;
}

function Subject({ approval, send, disabled }: { approval: Approval; send: Send; disabled: boolean }) {
  const { subject } = approval;
  switch (subject.kind) {
    case "command":
      return (
        <div class="subject">
          <pre class="command" tabIndex={0}>{visible(subject.command, true)}</pre>
          <div class="muted">in {visible(subject.cwd.replace(/^file:\/\//, ""))}</div>
          <div class="muted">{visible(subject.reason)}</div>
        </div>
      );
    case "change":
      return (
        <div class="subject">
          {subject.files.map((file) => (
            <File key={file.uri} file={file} approval={approval} send={send} disabled={disabled} many={subject.files.length > 1} />
          ))}
        </div>
      );
    case "read":
      return (
        <div class="subject">
          <ul class="places">
            {subject.places.map((place) => (
              <li key={place.uri}><code>{visible(place.shown)}</code></li>
            ))}
          </ul>
          <div class="muted">{visible(subject.reason)}</div>
        </div>
      );
    case "question":
      return <Question choices={subject.choices} question={subject.question} send={send} disabled={disabled} />;
    default:
      return <pre class="subject" tabIndex={0}>{visible(JSON.stringify(subject.raw, null, 2), true)}</pre>;
  }
}

function File(props: { file: FileSubject; approval: Approval; send: Send; disabled: boolean; many: boolean }) {
  const { file, approval, send, disabled } = props;
  return (
    <div class="file">
      {props.many && <div class="file-name">{visible(lastPart(file.uri))}</div>}
      {file.hunks.map((hunk) => {
        const decided = approval.hunks[hunk.hunkId];
        const decide = (yes: boolean): void => send({ hunks: { [hunk.hunkId]: yes } });
        return (
          <div class={`hunk ${decided ?? "open"}`} key={hunk.hunkId}>
            <div class="hunk-head">
              <span>line {hunk.line + 1}</span>
              {decided === undefined ? (
                <span class="hunk-actions">
                  <Button kind="link" disabled={disabled} onClick={() => decide(true)}>Accept</Button>
                  <span aria-hidden="true">·</span>
                  <Button kind="link" disabled={disabled} onClick={() => decide(false)}>Reject</Button>
                </span>
              ) : (
                <span>{decided}</span>
              )}
            </div>
            <HunkDiff hunk={hunk} />
          </div>
        );
      })}
    </div>
  );
}

function Question(props: { question: string; choices: string[]; send: Send; disabled: boolean }) {
  const [answer, setAnswer] = useState("");
  return (
    <div class="subject">
      <p class="question">{visible(props.question, true)}</p>
      <div class="choices">
        {props.choices.map((choice) => (
          <Button key={choice} disabled={props.disabled} onClick={() => props.send({ answer: choice })}>
            {visible(choice)}
          </Button>
        ))}
      </div>
      <form
        class="note"
        onSubmit={(event) => {
          event.preventDefault();
          if (answer.trim()) props.send({ answer: answer.trim() });
        }}
      >
        <input
          aria-label="Your answer"
          placeholder="Your answer"
          value={answer}
          onInput={(event) => setAnswer(event.currentTarget.value)}
        />
        <Button kind="primary" disabled={props.disabled || !answer.trim()} onClick={() => props.send({ answer: answer.trim() })}>
          Answer
        </Button>
        <Button disabled={props.disabled} onClick={() => props.send({ decision: "reject" })}>Do not answer</Button>
      </form>
    </div>
  );
}
