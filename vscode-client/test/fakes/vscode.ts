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

export const window = {
  showInformationMessage: (text: string, ...choices: string[]) => ask("message", text, choices),
  showQuickPick: (choices: string[], options: { title: string }) => ask("pick", options.title, choices),
  showInputBox: (options: { title: string }) => ask("input", options.title, []),
  setStatusBarMessage: (text: string) => {
    asked.push({ kind: "status", text, choices: [] });
  },
};

export const workspace = {
  textDocuments: [] as unknown[],
};
