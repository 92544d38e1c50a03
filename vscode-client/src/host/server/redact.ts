// What travels can be traced into the log; a provider's key must not be.

import type * as vscode from "vscode";

const KEY = /("key"\s*:\s*)"(?:[^"\\]|\\.)*"/g;

/** The same channel, but for keys in what is traced. */
export function withoutKeys(output: vscode.LogOutputChannel): vscode.LogOutputChannel {
  const trace = (text: string, ...more: unknown[]): void =>
    output.trace(text.replace(KEY, '$1"…"'), ...more);
  return Object.create(output, { trace: { value: trace } }) as vscode.LogOutputChannel;
}
