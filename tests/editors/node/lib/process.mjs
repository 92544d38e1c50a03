/** The server as a process, and the folders that it works in. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, readdir, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { after, within } from "./wait.mjs";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const PLACES = ["bin/python", "Scripts/python.exe"].map((place) => path.join(ROOT, ".venv", place));

/** The Python that has the server: `PYTHON`, or the one of the repository's environment. */
const PYTHON = process.env.PYTHON ?? PLACES.find(existsSync) ?? "python3";

/** A new folder that is gone after the test; without links in its path. */
export async function folder(t) {
  const made = await realpath(await mkdtemp(path.join(tmpdir(), "turnbuckle-")));
  after(t, () => rm(made, { recursive: true, force: true, maxRetries: 3 }));
  return made;
}

/** The environment of a server: what the system needs, nothing of whoever runs the tests. */
function environment(state, more) {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^TURNBUCKLE_|_proxy$|^NODE_TEST_CONTEXT$/i.test(name),
  );
  return {
    ...Object.fromEntries(own),
    TURNBUCKLE_STATE_DIR: state,
    TURNBUCKLE_CONFIG: path.join(tmpdir(), "turnbuckle-without-a-config.toml"),
    ...more,
  };
}

/** A running server. It has ended when the test has. */
export class Server {
  errors = "";

  constructor(t, state, { env = {}, args = [] } = {}) {
    const stdio = ["pipe", "pipe", "pipe"];
    const argv = ["-P", "-m", "turnbuckle", "serve", ...args];
    this.process = spawn(PYTHON, argv, { stdio, env: environment(state, env) });
    this.process.stderr.setEncoding("utf8").on("data", (text) => (this.errors += text));
    this.process.stdin.on("error", () => {}); // it may end before it has read everything
    this.exited = once(this.process, "exit");
    after(t, () => this.end());
  }

  /** Its exit code, or the name of the signal that ended it. */
  async code() {
    const [code, signal] = await within(this.exited, "the end of the server");
    return code ?? signal;
  }

  /** Never fulfilled; an error that says what it wrote when it ends. */
  async ended() {
    const [code, signal] = await this.exited;
    throw new Error(`the server has ended (${code ?? signal}):\n${this.errors}`);
  }

  /** Ends it: by closing its input, and by force where that does not do. */
  async end() {
    this.process.stdin.destroy();
    await within(this.exited, "the end of the server", 10_000).catch(() => {
      this.process.kill("SIGKILL");
      return this.exited;
    });
  }
}

/** The facts of a session as they stand on disk. */
export async function stored(state, sessionId) {
  const files = await readdir(path.join(state, "sessions"), { recursive: true });
  const file = files.find((name) => path.basename(name) === `${sessionId}.jsonl`);
  const text = await readFile(path.join(state, "sessions", file), "utf8");
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}
