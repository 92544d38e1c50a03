// Opening a session to be shown, where the one that is wanted may be gone.

import type { ShownSession } from "../../shared/messages";
import type { SessionOpenResult, Usage } from "../../wire/types";
import type { Server } from "../server/server";
import { said } from "./calls";

/** The first of these that can be opened, else a new one in this folder. */
export async function openFirst(
  server: Server,
  wanted: readonly (string | undefined)[],
  folder: string | undefined,
  log: (text: string) => void,
): Promise<SessionOpenResult> {
  for (const sessionId of new Set(wanted)) {
    if (sessionId === undefined) continue;
    try {
      return await server.request("turnbuckle/session/open", { sessionId });
    } catch (error) {
      // Where no server answers, none of the others could be opened either.
      if (typeof (error as { code?: unknown }).code !== "number") throw error;
      log(`a session could not be opened: ${said(error)}`);
    }
  }
  return server.request("turnbuckle/session/open", folder === undefined ? {} : { cwd: folder });
}

/** What the panel is told of a session whose facts come from number `from` on. */
export function shownOf(
  opened: SessionOpenResult,
  from: number,
  folder: string | undefined,
): ShownSession {
  const { usage, ...shown } = opened;
  return {
    ...shown,
    from,
    // The wire leaves it open; whatever has no numbers counts as nothing in the panel.
    ...(usage ? { usage: usage as unknown as Usage } : {}),
    ...(folder ? { folder } : {}),
  };
}
