// The server that the VSIX brings, started as the extension starts it, among packages that are in
// its way.

import { execFileSync, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launch } from "../../src/host/server/launch";
import { NEWEST, OLDEST } from "../../src/host/server/locate";

const CLIENT = resolve(__dirname, "../..");
const PYTHON = process.env["PYTHON"] ?? resolve(CLIENT, "../.venv/bin/python");
/** Libraries of the server; each foreign one ends the process when it is imported. */
const SHADOWED = ["pygls", "lsprotocol", "pydantic", "anyio", "turnbuckle", "typing_extensions"];

let place: string;

beforeAll(() => {
  if (!existsSync(join(CLIENT, "server", "start.py"))) {
    throw new Error("there is no server in vscode-client/server: run `make vsix` first");
  }
  place = mkdtempSync(join(tmpdir(), "turnbuckle-bundle-"));
  // A copy, as it is installed: what Python compiles for itself is not to be packaged.
  cpSync(join(CLIENT, "server"), join(place, "extension", "server"), { recursive: true });
});

afterAll(() => rmSync(place, { recursive: true, force: true }));

function foreign(folder: string): string {
  for (const name of SHADOWED) {
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, name, "__init__.py"), `raise SystemExit("a foreign ${name}")\n`);
  }
  return folder;
}

/** Ask it to initialize, and give what it answers. */
async function initialize(
  python: string,
  env: Record<string, string>,
  cwd: string,
): Promise<unknown> {
  const interpreter = {
    command: [python],
    version: [3, 11] as [number, number],
    source: "the test",
  };
  const {
    command,
    args,
    env: whole,
  } = launch(interpreter, join(place, "extension"), { args: [], env });
  const child = spawn(command, args, { env: whole, cwd, stdio: ["pipe", "pipe", "pipe"] });
  const said: string[] = [];
  child.stderr.on("data", (data: Buffer) => said.push(data.toString()));
  try {
    return await new Promise((answer, reject) => {
      let text = "";
      child.once("exit", (code) => reject(new Error(`it ended with ${code}: ${said.join("")}`)));
      child.stdout.on("data", (data: Buffer) => {
        text += data.toString();
        const [head = "", body] = text.split("\r\n\r\n", 2);
        const length = Number(/Content-Length: (\d+)/.exec(head)?.[1]);
        if (body !== undefined && body.length >= length) answer(JSON.parse(body.slice(0, length)));
      });
      const params = { processId: process.pid, rootUri: null, capabilities: {} };
      const request = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
      child.stdin.write(`Content-Length: ${request.length}\r\n\r\n${request}`);
    });
  } finally {
    const ended = new Promise((resolve) => child.once("close", resolve));
    if (child.exitCode === null && child.kill()) await ended;
  }
}

const ANSWER = {
  id: 1,
  result: { capabilities: { experimental: { turnbuckle: { protocolVersion: 1 } } } },
};

describe("the bundled server", () => {
  it("has libraries for each version of Python that is taken", () => {
    const folders = readdirSync(join(CLIENT, "server")).filter((name) => name.startsWith("cp3"));
    const minors = Array.from({ length: NEWEST - OLDEST + 1 }, (_, more) => OLDEST + more);
    expect(folders.sort()).toEqual(minors.map((minor) => `cp3${minor}`));
  });

  it("is not led astray by PYTHONPATH, nor by the folder that it is started in", async () => {
    const shadow = foreign(join(place, "shadow"));
    const env = { PYTHONPATH: shadow, PYTHONSTARTUP: join(shadow, "pygls", "__init__.py") };
    expect(await initialize(PYTHON, env, shadow)).toMatchObject(ANSWER);
  });

  it("is not led astray by what is installed for the interpreter", async () => {
    const made = join(place, "venv");
    execFileSync(PYTHON, ["-m", "venv", "--without-pip", made]);
    const lib = join(made, "lib");
    const [version = ""] = readdirSync(lib);
    const packages = foreign(join(lib, version, "site-packages"));
    // Such a line is run whenever that interpreter starts with its packages.
    writeFileSync(join(packages, "foreign.pth"), 'import sys; sys.exit("a foreign .pth")\n');
    expect(await initialize(join(made, "bin", "python"), {}, place)).toMatchObject(ANSWER);
  });
});
