// The panel's own requests to the server: those that it may make, each answered exactly once.

import { CALLS, type FromPanel, type ToPanel } from "../../shared/messages";
import type { Server } from "../server/server";

type Asked = Extract<FromPanel, { type: "call" }>;

export class Calls {
  private readonly instead = new Map<unknown, string>();

  constructor(
    private readonly server: Server,
    private readonly post: (message: ToPanel) => void,
    /** Waits until what the panel shows is open at the server. */
    private readonly shown: () => Promise<void>,
  ) {}

  /** What is asked of a session that is gone goes to the one that stands for it. */
  readdress(gone: string, sessionId: string): void {
    this.instead.set(gone, sessionId);
  }

  async pass({ id, method, params }: Asked): Promise<void> {
    if (!(CALLS as readonly string[]).includes(method)) {
      const message = `the panel may not ask ${String(method)}`;
      return this.post({ type: "refused", id, code: -32601, message });
    }
    try {
      // One that is just started again does not know the session yet.
      await this.server.start();
      await this.shown();
      const sessionId = this.instead.get(params["sessionId"]);
      const sent = sessionId === undefined ? params : { ...params, sessionId };
      const result: unknown = await this.server.request(method, sent as never);
      this.post({ type: "answer", id, result });
    } catch (error) {
      const { code, data } = error as { code?: number; data?: { kind?: string } };
      const kind = data?.kind;
      this.post({
        type: "refused",
        id,
        code: typeof code === "number" ? code : 0,
        message: said(error),
        ...(kind === undefined ? {} : { kind }),
      });
    }
  }
}

export function said(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
