// Which Python runs the server: the first of the person's own choices that it has libraries for.

/** The oldest and the newest Python 3 that the VSIX brings libraries for. */
export const OLDEST = 11;
export const NEWEST = 14;

export interface Interpreter {
  /** The command and what comes before the server's own arguments. */
  command: string[];
  version: [number, number];
  /** Where it was found, for people. */
  source: string;
}

/** Gives an interpreter's command line, or nothing; it may throw. */
export interface Candidate {
  source: string;
  find(): Promise<string[] | undefined>;
}

/** Runs a command and gives what it printed; rejects where it cannot be run. */
export type Run = (command: string[]) => Promise<string>;

export class NoInterpreter extends Error {}

const PROBE = "import sys; print(sys.version_info[0], sys.version_info[1])";

/**
 * The first candidate that is a Python which the server runs on. One that the person has set counts
 * alone: it is refused with the reason rather than passed over.
 */
export async function locate(candidates: readonly Candidate[], run: Run): Promise<Interpreter> {
  const reasons: string[] = [];
  for (const candidate of candidates) {
    const found = await probe(candidate, run);
    if (typeof found !== "string") return found;
    if (found) reasons.push(found);
    if (found && candidate.source === SETTING) break;
  }
  throw new NoInterpreter(
    `Turnbuckle needs a Python from 3.${OLDEST} to 3.${NEWEST}. ` +
      `Install it, or name one in the setting turnbuckle.server.interpreter. ` +
      (reasons.length ? `Looked at: ${reasons.join("; ")}.` : "None was found."),
  );
}

export const SETTING = "the setting turnbuckle.server.interpreter";

/** The interpreter, or why it is none; an empty string where the source has nothing to offer. */
async function probe(candidate: Candidate, run: Run): Promise<Interpreter | string> {
  let command: string[] | undefined;
  try {
    command = await candidate.find();
  } catch (error) {
    return `${candidate.source} failed (${said(error)})`;
  }
  if (!command?.length) return "";
  try {
    const [major, minor] = (await run([...command, "-c", PROBE])).trim().split(/\s+/).map(Number);
    if (major === undefined || minor === undefined || Number.isNaN(major) || Number.isNaN(minor)) {
      return `${candidate.source} (${command.join(" ")}) is no Python`;
    }
    if (major !== 3 || minor < OLDEST || minor > NEWEST) {
      return `${candidate.source} (${command.join(" ")}) is Python ${major}.${minor}`;
    }
    return { command, version: [major, minor], source: candidate.source };
  } catch (error) {
    return `${candidate.source} (${command.join(" ")}) cannot be run (${said(error)})`;
  }
}

function said(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What can be asked where the interpreter of a folder is; each part may be absent. */
export interface Apis {
  setting(): string[] | undefined;
  /** The Python Environments extension: the interpreter of the folder. */
  environments(): Promise<string | undefined>;
  /** The Python extension: the active interpreter. */
  python(): Promise<string | undefined>;
}

/** All places to look, in order. */
export function candidates(apis: Apis, platform: NodeJS.Platform): Candidate[] {
  const onPath =
    platform === "win32" ? [["py", "-3"], ["python"], ["python3"]] : [["python3"], ["python"]];
  const one = (path: string | undefined): string[] | undefined => (path ? [path] : undefined);
  return [
    { source: SETTING, find: () => Promise.resolve(apis.setting()) },
    {
      source: "the Python Environments extension",
      find: async () => one(await apis.environments()),
    },
    { source: "the Python extension", find: async () => one(await apis.python()) },
    ...onPath.map((command) => ({
      source: `${command.join(" ")} on the PATH`,
      find: () => Promise.resolve(command),
    })),
  ];
}
