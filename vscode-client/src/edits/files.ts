// `turnbuckle-edit:`: proposals as files in memory, so that the editor's own diff can edit them.

import * as vscode from "vscode";

export const SCHEME = "turnbuckle-edit";

interface Entry {
  bytes: Uint8Array;
  ctime: number;
  mtime: number;
  readonly: boolean;
}

/** Holds nothing but what `put` gave it; there are no folders to list and nothing to create. */
export class ProposalFiles implements vscode.FileSystemProvider {
  private readonly entries = new Map<string, Entry>();
  private readonly changes = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.changes.event;

  put(uri: vscode.Uri, text: string, readonly = false): void {
    const now = Date.now();
    const before = this.entries.get(uri.path);
    const bytes = new TextEncoder().encode(text);
    this.entries.set(uri.path, { bytes, ctime: before?.ctime ?? now, mtime: now, readonly });
    const type = before ? vscode.FileChangeType.Changed : vscode.FileChangeType.Created;
    this.changes.fire([{ type, uri }]);
  }

  text(uri: vscode.Uri): string {
    return new TextDecoder().decode(this.find(uri).bytes);
  }

  remove(uri: vscode.Uri): void {
    if (this.entries.delete(uri.path)) {
      this.changes.fire([{ type: vscode.FileChangeType.Deleted, uri }]);
    }
  }

  private find(uri: vscode.Uri): Entry {
    const entry = this.entries.get(uri.path);
    if (!entry) throw vscode.FileSystemError.FileNotFound(uri);
    return entry;
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    const { bytes, ctime, mtime, readonly } = this.find(uri);
    return {
      type: vscode.FileType.File,
      ctime,
      mtime,
      size: bytes.length,
      ...(readonly ? { permissions: vscode.FilePermission.Readonly } : {}),
    };
  }

  readFile(uri: vscode.Uri): Uint8Array {
    return this.find(uri).bytes;
  }

  writeFile(uri: vscode.Uri, content: Uint8Array): void {
    const entry = this.find(uri); // a proposal that is gone does not come back by being saved
    if (entry.readonly) throw vscode.FileSystemError.NoPermissions(uri);
    entry.bytes = content;
    entry.mtime = Date.now();
    this.changes.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }
}
