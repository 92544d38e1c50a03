// What travels can be traced into the log; a provider's key must not be, nor what a URL holds of one.

import type * as vscode from "vscode";

const KEY = /("key"\s*:\s*)"(?:[^"\\]|\\.)*"/g;
const USER = /(:\/\/)[^\s"'/@]*@/g;
const QUERY = /("base_?[uU]rl"\s*:\s*"[^"?]*\?)[^"]*"/g;

function withoutSecrets(text: string): string {
  return text.replace(KEY, '$1"…"').replace(USER, "$1…@").replace(QUERY, '$1…"');
}

/** The same channel, but for keys in what is traced. */
export function withoutKeys(output: vscode.LogOutputChannel): vscode.LogOutputChannel {
  const trace = (text: string, ...more: unknown[]): void =>
    output.trace(withoutSecrets(text), ...more);
  return Object.create(output, { trace: { value: trace } }) as vscode.LogOutputChannel;
}
