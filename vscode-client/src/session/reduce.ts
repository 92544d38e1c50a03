// Facts in, what is shown out. Pure but for the state that it is given: it asks nobody anything.

import type { Fact, Facts, Usage } from "../wire/types";
import type { Note, Value } from "../shared/messages";
import { Answer } from "./answer";
import { Calls } from "./calls";
import { Items } from "./items";
import { contextLabel, firstLine, lastPart } from "./labels";
import { gone, isGone, type Rewind } from "./rewound";
import { plus, type Beginning } from "./usage";
import { emptyState, type SessionState } from "./state";

export { OUTPUT_TAIL } from "./calls";
export { contextLabel, lastPart } from "./labels";
export type { Beginning } from "./usage";

type Handler<T extends keyof Facts> = (fact: Extract<Fact, { type: T }>) => void;

/** Ends after which what waits has its turn without more ado. */
const GOES_ON: ReadonlySet<string> = new Set(["completed", "max-tokens"]);

/** Reduces one session. `apply` takes values in their order; facts that were seen are skipped. */
export class Reducer {
  private readonly items: Items;
  private readonly calls: Calls;
  private readonly rewinds: Rewind[] = [];
  private readonly added = new Map<string, Facts["inbox/added"]>();
  private readonly answer: Answer;
  private counted = -1;

  constructor(state: SessionState = emptyState()) {
    this.items = new Items(state);
    this.answer = new Answer(this.items);
    this.calls = new Calls(this.items);
  }

  get state(): SessionState {
    return this.items.state;
  }

  /** Say where this session stood before the facts that follow. */
  begin(beginning: Beginning): void {
    this.state.seq = beginning.from - 1;
    this.counted = beginning.seq;
    if (beginning.usage) this.state.usage = beginning.usage;
    if (beginning.context !== undefined) this.state.context = beginning.context;
    if (beginning.title !== undefined) this.state.title = beginning.title;
  }

  apply(value: Value): void {
    this.state.version++;
    try {
      if ("seq" in value) this.fact(value);
      else this.note(value);
    } catch {
      // A value of a shape that cannot be read is skipped, like a type that is not known.
    }
  }

  private fact(fact: Fact): void {
    if (fact.seq <= this.state.seq) return;
    this.state.seq = fact.seq;
    const known = Object.hasOwn(this.handlers, fact.type);
    const handler = known ? (this.handlers[fact.type] as Handler<typeof fact.type>) : undefined;
    handler?.(fact as never);
  }

  private readonly handlers: { [T in keyof Facts]?: Handler<T> } = {
    "session/title": ({ data }) => {
      this.state.title = data.title;
    },
    "turn/start": ({ data, time }) => {
      this.state.turn = data.turn;
      this.state.running = { turn: data.turn, step: 0, since: time };
      delete this.state.failure;
    },
    "turn/end": ({ seq, data }) => {
      // One without a step, such as a compaction, wakes nothing that waits.
      const goesOn = GOES_ON.has(data.end.kind);
      if (!goesOn || this.state.running?.step) this.park(!goesOn);
      delete this.state.running;
      delete this.state.status;
      this.state.lastEnd = data.end;
      if (data.end.failure) this.state.failure = data.end.failure;
      this.answer.close();
      if (data.end.kind !== "completed") {
        this.items.push({ kind: "end", id: `end-${seq}`, seq, turn: data.turn, end: data.end });
      }
    },
    "step/start": ({ data }) => {
      if (this.state.running) this.state.running = { ...this.state.running, step: data.step };
      if (data.step === 1) this.park(false);
    },
    "inbox/added": ({ data }) => this.waits(data),
    "inbox/changed": ({ data }) => {
      this.state.waiting = this.state.waiting.map((one) =>
        one.key === data.key ? { ...one, text: data.input } : one,
      );
    },
    "inbox/dropped": ({ data }) => {
      this.state.waiting = this.state.waiting.filter((one) => !data.keys.includes(one.key));
    },
    "user/message": ({ seq, data }) => this.userMessage(seq, data),
    "llm/stream": ({ data }) => {
      if (data.why) return;
      this.state.model = data.model;
      if (data.window !== undefined) this.state.window = data.window;
      this.dropAnswer();
    },
    "llm/failed": ({ data }) => {
      this.dropAnswer();
      this.state.failure = data.failure;
      if (data.retryAt !== undefined) {
        this.state.status = { text: data.failure.message, until: data.retryAt };
      }
    },
    "assistant/chunk": ({ seq, data }) => this.chunk(seq, data),
    "assistant/message": ({ seq, data }) => this.message(seq, data),
    "tool/call": ({ seq, data }) => this.calls.take(seq, data),
    "tool/start": ({ time, data }) => this.calls.start(time, data.callId),
    "tool/result": ({ time, data }) => this.calls.end(time, data),
    "approval/asked": ({ seq, data }) => this.calls.ask(seq, data),
    "approval/hunk": ({ data }) => this.calls.decideHunk(data),
    "approval/decided": ({ data }) => this.calls.decided(data),
    "edit/applied": ({ data }) => {
      if (data.outcome === "applied") this.calls.changed(data.callId, data.uri);
    },
    "edit/undone": ({ seq, data }) => {
      const many = data.hunks.length === 1 ? "a place" : `${data.hunks.length} places`;
      this.items.notice(seq, `Undone: ${many} in ${lastPart(data.uri)}`);
    },
    "context/summary": ({ seq, data }) => {
      this.count(seq, data.usage);
      if (seq > this.counted) delete this.state.context;
      this.items.notice(seq, "Earlier messages were summarised for the model", data.text);
    },
    "context/pruned": ({ seq, data }) => {
      const many =
        data.results.length === 1 ? "one old result" : `${data.results.length} old results`;
      this.items.notice(seq, `The model is shown ${many} shortened`);
    },
    "context/rewound": ({ seq, data }) => this.rewound({ seq, to: data.to }),
    "todo/write": ({ data }) => {
      if (!Array.isArray(data.items)) return;
      this.state.todo = data.items;
      this.state.todoTurn = this.state.turn;
    },
  };

  private note(note: Note): void {
    switch (note.type) {
      case "tool/output":
        return this.calls.print(note.data.callId, note.data.text);
      case "status":
        this.state.status = note.data;
        return;
      case "live":
        this.state.live = true;
    }
  }

  private waits(data: Facts["inbox/added"]): void {
    this.added.set(data.key, data);
    if ((data.source ?? "user") !== "user") return;
    this.state.title ??= firstLine(data.input);
    const { key, input, target, context = [] } = data;
    const message = { key, text: input, target, pointed: context, parked: false };
    this.state.waiting = [...this.state.waiting, message];
  }

  private park(parked: boolean): void {
    this.state.waiting = this.state.waiting.map((one) => ({ ...one, parked }));
  }

  private userMessage(seq: number, data: Facts["user/message"]): void {
    const source = data.source ?? "user";
    this.state.waiting = this.state.waiting.filter((one) => one.key !== data.key);
    if (source === "context") return; // it stands as chips on the message that it came with
    const sent = data.key === undefined ? undefined : this.added.get(data.key);
    if (data.key !== undefined) this.added.delete(data.key);
    this.answer.close();
    const pointed = sent?.context ?? [];
    this.items.push({
      kind: "user",
      id: `user-${seq}`,
      seq,
      turn: data.turn,
      ...(data.key === undefined ? {} : { key: data.key }),
      text: data.content,
      source,
      context: pointed.map(contextLabel),
      pointed,
    });
  }

  private chunk(seq: number, data: Facts["assistant/chunk"]): void {
    delete this.state.status;
    if (data.text || data.reasoning) {
      const answer = this.answer.open(seq, data.turn, data.step);
      answer.text += data.text ?? "";
      answer.reasoning += data.reasoning ?? "";
      this.items.touch(answer);
    }
    for (const piece of data.toolCalls ?? []) this.calls.write(seq, data, piece);
  }

  private message(seq: number, data: Facts["assistant/message"]): void {
    if (data.content || data.reasoning) {
      const answer = this.answer.open(seq, data.turn, data.step);
      answer.text = data.content;
      answer.reasoning = data.reasoning ?? "";
      answer.interrupted = data.interrupted ?? false;
    }
    this.answer.close();
    this.calls.settle(seq, data);
    if (data.usage && seq > this.counted) this.state.context = data.usage.total;
    this.count(seq, data.usage);
  }

  /** What was counted before the first fact that is seen is not counted again. */
  private count(seq: number, usage: Usage | undefined): void {
    if (usage && seq > this.counted) this.state.usage = plus(this.state.usage, usage);
  }

  /** An attempt is over without an answer: what it had said is no part of the session. */
  private dropAnswer(): void {
    this.answer.drop();
    this.calls.drop();
  }

  private rewound(rewind: Rewind): void {
    this.rewinds.push(rewind);
    const stretches = gone(this.rewinds);
    const taken = this.state.items.filter((one) => isGone(one.seq, stretches));
    this.state.gone = new Set(taken.map((one) => one.id));
    if (rewind.seq > this.counted) delete this.state.context;
    this.items.notice(rewind.seq, "The conversation was taken back");
    for (const item of this.state.items) this.items.touch(item);
  }
}
