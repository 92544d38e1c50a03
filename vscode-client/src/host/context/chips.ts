// What the person points at in the editor, as chips for the panel.

import { randomUUID } from "node:crypto";
import * as vscode from "vscode";
import { contextLabel } from "../../session/reduce";
import type { Chip } from "../../shared/messages";
import { pictureType } from "../../shared/pictures";

export function makeChip(parts: Omit<Chip, "id" | "label" | "detail"> & { detail?: string }): Chip {
  const label = contextLabel(parts);
  return { id: randomUUID(), label, detail: parts.detail ?? parts.uri ?? label, ...parts };
}

export function fileChip(uri: vscode.Uri): Chip {
  return makeChip({ kind: "file", uri: uri.toString() });
}

/** The largest picture that is read, in bytes; the panel makes it smaller. */
const PICTURE = 20 * 1024 * 1024;

/**
 * A file; a picture, which is shown to the model; or a folder, whose place says that it is one: to
 * the person and to the model.
 */
export async function placeChip(uri: vscode.Uri): Promise<Chip> {
  try {
    const { type, size } = await vscode.workspace.fs.stat(uri);
    if (type & vscode.FileType.Directory && !uri.path.endsWith("/"))
      return makeChip({ kind: "file", uri: `${uri.toString()}/` });
    const mimeType = pictureType(uri.path);
    if (mimeType !== undefined && size <= PICTURE) {
      const bytes = await vscode.workspace.fs.readFile(uri);
      const data = Buffer.from(bytes).toString("base64");
      return makeChip({ kind: "image", uri: uri.toString(), mimeType, data });
    }
  } catch {
    // What cannot be looked at is named as it came.
  }
  return fileChip(uri);
}

/** The selection of an editor; without one, its whole file. */
export function selectionChip(editor: vscode.TextEditor): Chip {
  const { document, selection } = editor;
  if (selection.isEmpty) return fileChip(document.uri);
  return makeChip({
    kind: "selection",
    uri: document.uri.toString(),
    range: { start: plain(selection.start), end: plain(selection.end) },
    version: document.version,
  });
}

/** The problems of a file, as text: the server is told what the editor says. */
export function diagnosticsChip(uri: vscode.Uri): Chip | undefined {
  const found = vscode.languages.getDiagnostics(uri);
  if (!found.length) return undefined;
  const lines = found.map((one) => {
    const code = typeof one.code === "object" ? one.code.value : one.code;
    const origin = [one.source, code].filter((part) => part !== undefined).join(" ");
    return `${one.range.start.line + 1}: ${NAMES[one.severity]}: ${one.message}${origin ? ` (${origin})` : ""}`;
  });
  return makeChip({
    kind: "diagnostics",
    uri: uri.toString(),
    text: lines.join("\n"),
    detail: `${found.length} ${found.length === 1 ? "problem" : "problems"} in ${uri.fsPath}`,
  });
}

const NAMES = ["error", "warning", "information", "hint"] as const;

/** What can be added now: open editors, the selection, their problems. */
export function offers(): Chip[] {
  const editor = vscode.window.activeTextEditor;
  const chips: Chip[] = [];
  if (editor) {
    chips.push(selectionChip(editor));
    const problems = diagnosticsChip(editor.document.uri);
    if (problems) chips.push(problems);
  }
  for (const group of vscode.window.tabGroups.all) {
    for (const { input } of group.tabs) {
      if (
        input instanceof vscode.TabInputText &&
        !chips.some((one) => one.uri === input.uri.toString())
      ) {
        chips.push(fileChip(input.uri));
      }
    }
  }
  return chips;
}

/** Files of the workspace whose path holds what was typed after `@`. */
export async function findFiles(query: string, limit = 20): Promise<Chip[]> {
  const letters = query.replace(/[[\]{}*?!]/g, "");
  const uris = await vscode.workspace.findFiles(`**/*${letters}*`, undefined, limit);
  return uris.map((uri) => ({
    ...fileChip(uri),
    detail: vscode.workspace.asRelativePath(uri),
  }));
}

function plain(position: vscode.Position): { line: number; character: number } {
  return { line: position.line, character: position.character };
}
