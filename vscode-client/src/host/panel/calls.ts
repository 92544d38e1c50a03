// The panel's own requests to the server: those that it may make, each answered exactly once.

import { CALLS, type FromPanel, type ToPanel } from "../../shared/messages";
import type { Server } from "../server/server";

export async function passOn(
  server: Server,
  { id, method, params }: Extract<FromPanel, { type: "call" }>,
  post: (message: ToPanel) => void,
): Promise<void> {
  if (!(CALLS as readonly string[]).includes(method)) {
    post({ type: "refused", id, code: -32601, message: `the panel may not ask ${String(method)}` });
    return;
  }
  try {
    const result: unknown = await server.request(method, params as never);
    post({ type: "answer", id, result });
  } catch (error) {
    const { code, data } = error as { code?: number; data?: { kind?: string } };
    const kind = data?.kind;
    post({
      type: "refused",
      id,
      code: typeof code === "number" ? code : 0,
      message: said(error),
      ...(kind === undefined ? {} : { kind }),
    });
  }
}

export function said(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
