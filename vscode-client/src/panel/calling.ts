// Questions of the panel that the host answers, each once.

import type { Call, Chip, FromPanel, ToPanel } from "../shared/messages";
import type { Requests } from "../wire/types";

/** A request to the server that was refused. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly code: number,
    readonly kind: string | undefined,
  ) {
    super(message);
  }
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

export class Calling {
  private readonly answers = new Map<number, Waiting>();
  private readonly finds = new Map<number, (chips: Chip[]) => void>();
  /** No page gives an id that one before it gave: its answers may still come. */
  private ids = Date.now() * 1_000;

  constructor(private readonly post: (message: FromPanel) => void) {}

  call<M extends Call>(method: M, params: Requests[M]["params"]): Promise<Requests[M]["result"]> {
    const id = ++this.ids;
    return new Promise((resolve, reject) => {
      this.answers.set(id, { resolve: resolve as (result: unknown) => void, reject });
      this.post({ type: "call", id, method, params: params as Record<string, unknown> });
    });
  }

  findFiles(query: string): Promise<Chip[]> {
    const id = ++this.ids;
    return new Promise((resolve) => {
      this.finds.set(id, resolve);
      this.post({ type: "do", action: { do: "findFiles", id, query } });
    });
  }

  found(message: Extract<ToPanel, { type: "found" }>): void {
    this.finds.get(message.id)?.(message.chips);
    this.finds.delete(message.id);
  }

  answered(message: Extract<ToPanel, { type: "answer" }>): void {
    this.answers.get(message.id)?.resolve(message.result);
    this.answers.delete(message.id);
  }

  /** Whether somebody waited for this. */
  refused(message: Extract<ToPanel, { type: "refused" }>): boolean {
    const waiting = this.answers.get(message.id);
    this.answers.delete(message.id);
    waiting?.reject(new Refused(message.message, message.code, message.kind));
    return waiting !== undefined;
  }
}
