// `turnbuckle/save`: save documents before a command runs on their files.

import * as vscode from "vscode";

export async function save(uris: string[]): Promise<{ saved: string[]; failed: string[] }> {
  const saved: string[] = [];
  const failed: string[] = [];
  for (const uri of uris) {
    const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri);
    // Nobody is asked for a name: what has none is not saved.
    const done = document !== undefined && !document.isUntitled && (await document.save());
    (done ? saved : failed).push(uri);
  }
  return { saved, failed };
}
