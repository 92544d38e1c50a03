// The session that the panel shows, kept over reloads of the window.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Host } from "./panel/host";

/**
 * Known at once in this window, and kept in a file once the session is stored. The editor's own
 * memory is written a while later, and what it was told just before a reload may be lost.
 */
export function shownSession(
  file: string,
  log: (text: string) => void,
): Pick<Host, "remembered" | "remember"> {
  let shown = read(file);
  let kept = shown;
  return {
    remembered: () => shown,
    remember: (sessionId, stored) => {
      shown = sessionId;
      const wanted = stored ? sessionId : undefined;
      if (kept === wanted) return;
      kept = wanted;
      try {
        write(file, wanted);
      } catch (error) {
        log(`the shown session cannot be kept: ${String(error)}`);
      }
    },
  };
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8") || undefined;
  } catch {
    return undefined; // nothing was kept yet
  }
}

function write(file: string, sessionId: string | undefined): void {
  if (sessionId === undefined) return rmSync(file, { force: true });
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, sessionId);
}
