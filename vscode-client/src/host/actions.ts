// What the panel lets the editor do. Nothing here runs a command that an answer names.

import * as vscode from "vscode";
import type { Action, Chip } from "../shared/messages";
import { diagnosticsChip, findFiles, offers, placeChip } from "./context/chips";
import type { Credentials } from "./credentials";
import { useDemo } from "./models";
import type { Restarting } from "./restarting";
import type { Server } from "./server/server";
import { exportSession } from "./sessions";
import type { Terminals } from "./context/terminal";

export interface Does {
  server: Server;
  credentials: Credentials;
  restarting: Restarting;
  terminals: Terminals;
  output: vscode.LogOutputChannel;
  review(approvalId: string): Promise<void>;
  chips(chips: Chip[]): void;
  found(id: number, chips: Chip[]): void;
}

export async function act(action: Action, does: Does): Promise<void> {
  switch (action.do) {
    case "openFile":
      return openFile(action.uri, action.line);
    case "insertCode":
      return insertCode(action.text);
    case "copy":
      return vscode.env.clipboard.writeText(action.text);
    case "openLink":
      return openLink(action.href);
    case "review":
      return does.review(action.approvalId);
    case "addContext":
      return addContext(does);
    case "findFiles":
      return does.found(action.id, await findFiles(action.query));
    case "drop":
      return does.chips(
        await Promise.all(action.uris.map((uri) => placeChip(vscode.Uri.parse(uri, true)))),
      );
    case "connect":
      await does.credentials.ask();
      return;
    case "demo":
      return useDemo(does.restarting);
    case "export":
      return exportSession(does.server, action.sessionId);
    case "showLog":
      return does.output.show(true);
    case "restart":
      return does.server.restart();
    case "openSettings":
      await vscode.commands.executeCommand(
        "workbench.action.openSettings",
        "@ext:turnbuckle.turnbuckle",
      );
  }
}

async function openFile(uri: string, line: number | undefined): Promise<void> {
  const parsed = vscode.Uri.parse(uri, true);
  const known =
    vscode.workspace.getWorkspaceFolder(parsed) !== undefined ||
    vscode.workspace.textDocuments.some((one) => one.uri.toString() === parsed.toString());
  if (!known) {
    const text = `Open ${parsed.fsPath}? It lies outside the workspace.`;
    if ((await vscode.window.showWarningMessage(text, "Open")) !== "Open") return;
  }
  const at = line === undefined ? undefined : new vscode.Range(line, 0, line, 0);
  await vscode.window.showTextDocument(parsed, {
    preview: true,
    preserveFocus: true,
    ...(at ? { selection: at } : {}),
  });
}

/** At the cursor of the editor that was used last; the person sees it and can undo it. */
async function insertCode(text: string): Promise<void> {
  const editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
  if (!editor) {
    void vscode.window.showInformationMessage("Turnbuckle: open a file to insert the code into.");
    return;
  }
  await editor.edit((edit) => edit.replace(editor.selection, text));
}

/** The editor asks before it leaves for a page. */
async function openLink(href: string): Promise<void> {
  const uri = vscode.Uri.parse(href, true);
  if (uri.scheme === "https" || uri.scheme === "http") await vscode.env.openExternal(uri);
}

async function addContext(does: Does): Promise<void> {
  const problems = vscode.languages
    .getDiagnostics()
    .filter(([, found]) => found.length)
    .map(([uri]) => diagnosticsChip(uri))
    .filter((one): one is Chip => one !== undefined);
  const known = offers();
  const more = problems.filter(
    (one) => !known.some((other) => other.kind === one.kind && other.uri === one.uri),
  );
  const said = does.terminals.lastOutput;
  const all = [...known, ...more, ...(said ? [said] : [])];
  const items = all.map((chip) => ({ label: chip.label, description: chip.detail, chip }));
  if (!items.length) {
    void vscode.window.showInformationMessage(
      "Turnbuckle: no editor is open. Type @ to name a file.",
    );
    return;
  }
  const chosen = await vscode.window.showQuickPick(items, {
    title: "Add to the chat",
    canPickMany: true,
  });
  if (chosen?.length) does.chips(chosen.map((one) => one.chip));
}
