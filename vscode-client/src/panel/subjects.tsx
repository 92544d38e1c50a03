// What is asked about, in full: the command, the diff, the places, or the question itself.

import { useState } from "preact/hooks";
import type { PanelSettings } from "../shared/messages";
import { lastPart, shownPlace } from "../session/labels";
import type { Approval, FileSubject } from "../session/state";
import { visible } from "../session/words";
import type { Send } from "./approval";
import { HunkDiff } from "./diff";
import { Button, Field } from "./widgets";

interface Props {
  approval: Approval;
  folders: PanelSettings["folders"];
  send: Send;
  disabled: boolean;
  /** Hunks that an answer is on its way for. */
  decided: ReadonlySet<string>;
}

export function SubjectView(props: Props) {
  const { approval, folders } = props;
  const { subject } = approval;
  switch (subject.kind) {
    case "command":
      return (
        <div class="subject">
          <pre class="command" tabIndex={0} aria-label="Command">
            {visible(subject.command, true)}
          </pre>
          <div class="muted">
            in <code>{visible(shownPlace(subject.cwd, folders)) || "."}</code>
            {subject.timeout !== undefined && ` · for at most ${subject.timeout} s`}
          </div>
          <Reason text={subject.reason} />
        </div>
      );
    case "change":
      return (
        <div class="subject">
          {subject.files.map((file) => (
            <File key={file.uri} file={file} many={subject.files.length > 1} {...props} />
          ))}
          <Reason text={subject.reason} />
        </div>
      );
    case "read":
      return (
        <div class="subject">
          <ul class="places">
            {subject.places.map((place) => (
              <li key={place.uri}>
                <code>{visible(place.shown)}</code>
              </li>
            ))}
          </ul>
          <Reason text={subject.reason} />
        </div>
      );
    case "question":
      return <Question {...props} question={subject.question} choices={subject.choices} />;
    default:
      return (
        <div class="subject">
          <pre class="command" tabIndex={0} aria-label="What is asked for">
            {visible(JSON.stringify(subject.raw, null, 2), true)}
          </pre>
        </div>
      );
  }
}

/** Reasons that are the rule: only what is out of the ordinary is said. */
const ORDINARY = new Set(["commands are asked about first", "changes are asked about first"]);

function Reason({ text }: { text: string }) {
  return text && !ORDINARY.has(text) ? <div class="muted">{visible(text)}</div> : null;
}

function File({
  file,
  many,
  approval,
  folders,
  send,
  disabled,
  decided,
}: Props & { file: FileSubject; many: boolean }) {
  const place = shownPlace(file.uri, folders);
  const single = file.hunks.length === 1 && !many;
  return (
    <div class="file">
      {(many || place !== lastPart(file.uri)) && <div class="file-name">{visible(place)}</div>}
      {file.newUri !== undefined && (
        <div class="file-name">→ {visible(shownPlace(file.newUri, folders))}</div>
      )}
      {file.hunks.map((hunk) => {
        const decision = approval.hunks[hunk.hunkId];
        const decide = (yes: boolean): void => send({ hunks: { [hunk.hunkId]: yes } });
        const off = disabled || decided.has(hunk.hunkId);
        const where = `line ${hunk.line + 1}`;
        return (
          <div class={`hunk ${decision ?? "open"}`} key={hunk.hunkId}>
            <div class="hunk-head">
              <span>{where}</span>
              {decision !== undefined ? (
                <span>{decision}</span>
              ) : single ? null : (
                <span
                  class="hunk-actions"
                  role="group"
                  aria-label={`Hunk at ${where}`}
                  tabIndex={-1}
                >
                  <Button kind="link" disabled={off} onClick={() => decide(true)}>
                    Accept
                  </Button>
                  <span aria-hidden="true">·</span>
                  <Button kind="link" disabled={off} onClick={() => decide(false)}>
                    Reject
                  </Button>
                </span>
              )}
            </div>
            <HunkDiff hunk={hunk} />
          </div>
        );
      })}
    </div>
  );
}

function Question({
  question,
  choices,
  send,
  disabled,
}: Props & { question: string; choices: string[] }) {
  const [answer, setAnswer] = useState("");
  const give = (): void => {
    if (answer.trim()) send({ answer: answer.trim() });
  };
  return (
    <div class="subject">
      <p class="question" dir="auto">
        {visible(question, true)}
      </p>
      {choices.length > 0 && (
        <div class="answers">
          {[...new Set(choices)].map((choice) => (
            <Button key={choice} disabled={disabled} onClick={() => send({ answer: choice })}>
              <span dir="auto">{visible(choice)}</span>
            </Button>
          ))}
        </div>
      )}
      <div class="note">
        <Field
          label={choices.length ? "Something else" : "Your answer"}
          value={answer}
          onChange={setAnswer}
          onEnter={give}
        />
        <Button kind="primary" disabled={disabled || !answer.trim()} onClick={give}>
          Answer
        </Button>
        <Button kind="link" disabled={disabled} onClick={() => send({ decision: "reject" })}>
          Do not answer
        </Button>
      </div>
    </div>
  );
}
