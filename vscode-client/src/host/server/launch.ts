// How the server's process is started: isolated from the user's packages, with its own first.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Interpreter, Run } from "./locate";

export interface Launch {
  command: string;
  args: string[];
  env: Record<string, string | undefined>;
}

/** The most that finding out an interpreter's version may take, in milliseconds. */
const PROBE_TIME = 10_000;

export const runProcess: Run = (command) =>
  new Promise((resolve, reject) => {
    const [file = "", ...args] = command;
    execFile(file, args, { timeout: PROBE_TIME, windowsHide: true }, (error, stdout) => {
      if (error) reject(error);
      else resolve(stdout);
    });
  });

/**
 * Starts the bundled server where the extension holds one, else the one that is installed for the
 * interpreter. `-I` keeps PYTHONPATH and the user's own packages out, and for the bundled one `-S`
 * those of the interpreter, too: it brings all that it needs.
 */
export function launch(
  interpreter: Interpreter,
  extension: string,
  extra: { args: string[]; env: Record<string, string> },
): Launch {
  const [command = "", ...before] = interpreter.command;
  const start = join(extension, "server", "start.py");
  const entry = existsSync(start) ? ["-I", "-S", start] : ["-I", "-m", "turnbuckle"];
  return {
    command,
    args: [...before, ...entry, "serve", ...extra.args],
    env: { ...process.env, ...extra.env, PYTHONUTF8: "1" },
  };
}
