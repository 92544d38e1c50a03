// As much of the editor's API as the unit tests touch; what is missing fails loudly.

export class EventEmitter<T> {
  private readonly listeners = new Set<(value: T) => void>();
  readonly event = (listener: (value: T) => void): Disposable => {
    this.listeners.add(listener);
    return new Disposable(() => this.listeners.delete(listener));
  };
  fire(value: T): void {
    for (const listener of [...this.listeners]) listener(value);
  }
  dispose(): void {
    this.listeners.clear();
  }
}

export class Disposable {
  constructor(private readonly call: () => unknown) {}
  dispose(): void {
    this.call();
  }
}

export class Uri {
  private constructor(
    readonly scheme: string,
    readonly authority: string,
    readonly path: string,
  ) {}
  static parse(text: string): Uri {
    const found = /^([a-z][a-z0-9+.-]*):(?:\/\/([^/]*))?(.*)$/i.exec(text);
    if (!found) throw new Error(`no URI: ${text}`);
    return new Uri(found[1]!, found[2] ?? "", decodeURIComponent(found[3]!));
  }
  static joinPath(base: Uri, ...parts: string[]): Uri {
    return new Uri(base.scheme, base.authority, [base.path, ...parts].join("/"));
  }
  static from(parts: { scheme: string; path: string }): Uri {
    return new Uri(parts.scheme, "", parts.path);
  }
  get fsPath(): string {
    return this.path;
  }
  toString(): string {
    return `${this.scheme}:${this.scheme === "file" ? "//" : ""}${this.path}`;
  }
}

export enum FileType {
  File = 1,
  Directory = 2,
}
export enum FilePermission {
  Readonly = 1,
}
export enum FileChangeType {
  Changed = 1,
  Created = 2,
  Deleted = 3,
}
export class FileSystemError extends Error {
  static FileNotFound(uri: Uri): FileSystemError {
    return new FileSystemError(`not found: ${uri.path}`);
  }
  static NoPermissions(uri: Uri): FileSystemError {
    return new FileSystemError(`no permissions: ${uri.path}`);
  }
}

/** What the person was shown, in order, and what they answer: an answer is taken from the front. */
export const asked: { kind: string; text: string; choices: string[] }[] = [];
export const answers: (string | undefined)[] = [];

function ask(kind: string, text: string, choices: string[]): Promise<string | undefined> {
  asked.push({ kind, text, choices });
  return Promise.resolve(answers.shift());
}

/** Ids of commands that were registered, and commands that were run with their arguments. */
export const registered = new Map<string, (...args: unknown[]) => unknown>();
export const ran: { command: string; args: unknown[] }[] = [];
/** What a run command does, where a test wants more than its being noted. */
export const does = new Map<string, (...args: unknown[]) => unknown>();

export const commands = {
  registerCommand: (id: string, run: (...args: unknown[]) => unknown) => {
    registered.set(id, run);
    return new Disposable(() => registered.delete(id));
  },
  executeCommand: (command: string, ...args: unknown[]) => {
    ran.push({ command, args });
    return Promise.resolve(does.get(command)?.(...args));
  },
};

export class ThemeColor {
  constructor(readonly id: string) {}
}
export enum StatusBarAlignment {
  Left = 1,
  Right = 2,
}
export class TabInputText {
  constructor(readonly uri: Uri) {}
}
export class Range {
  constructor(
    readonly startLine: number,
    readonly startCharacter: number,
    readonly endLine: number,
    readonly endCharacter: number,
  ) {}
}

/** The only item in the status bar. */
export const statusItem = {
  text: "",
  tooltip: "",
  name: "",
  command: "",
  backgroundColor: undefined as ThemeColor | undefined,
  accessibilityInformation: undefined as { label: string } | undefined,
  show: () => undefined,
  dispose: () => undefined,
};

export const startedExecution = new EventEmitter<unknown>();
export const closedTerminal = new EventEmitter<unknown>();

export const window = {
  showInformationMessage: (text: string, ...choices: string[]) => ask("message", text, choices),
  showWarningMessage: (text: string, ...choices: string[]) => ask("message", text, choices),
  showErrorMessage: (text: string, ...choices: string[]) => ask("error", text, choices),
  showQuickPick: async (choices: (string | { label: string })[], options: { title: string }) => {
    const labels = choices.map((one) => (typeof one === "string" ? one : one.label));
    const answer = await ask("pick", options.title, labels);
    return choices.find((one) => (typeof one === "string" ? one : one.label) === answer);
  },
  showInputBox: (options: { title: string }) => ask("input", options.title, []),
  setStatusBarMessage: (text: string) => {
    asked.push({ kind: "status", text, choices: [] });
  },
  createStatusBarItem: () => statusItem,
  onDidStartTerminalShellExecution: startedExecution.event,
  onDidCloseTerminal: closedTerminal.event,
  activeTerminal: undefined as unknown,
  activeTextEditor: undefined as unknown,
  tabGroups: { all: [] as { tabs: { input: unknown }[] }[] },
};

export const env = {
  clipboard: {
    text: "",
    /** Every text that was ever put there. */
    written: [] as string[],
    readText(): Promise<string> {
      return Promise.resolve(this.text);
    },
    writeText(text: string): Promise<void> {
      this.text = text;
      this.written.push(text);
      return Promise.resolve();
    },
  },
};

export const languages = {
  problems: new Map<string, unknown[]>(),
  getDiagnostics(uri: Uri): unknown[] {
    return this.problems.get(uri.toString()) ?? [];
  },
};

export const workspace = {
  textDocuments: [] as unknown[],
  isTrusted: true,
  workspaceFolders: undefined as { name: string; uri: Uri }[] | undefined,
  asRelativePath: (uri: Uri) => uri.path.split("/").at(-1) ?? uri.path,
  /** Of the places below `/w` some are folders; all files have these bytes, and may claim more. */
  fs: {
    folders: [] as string[],
    bytes: new Uint8Array([1, 2, 3]),
    size: 3,
    stat(uri: Uri): Promise<{ type: FileType; size: number }> {
      if (!uri.path.startsWith("/w/")) return Promise.reject(FileSystemError.FileNotFound(uri));
      const type = this.folders.includes(uri.toString()) ? FileType.Directory : FileType.File;
      return Promise.resolve({ type, size: this.size });
    },
    readFile(_: Uri): Promise<Uint8Array> {
      return Promise.resolve(this.bytes);
    },
  },
};
