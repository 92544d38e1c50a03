// Commands about sessions that work without the panel's lists, for the keyboard alone.

import { randomUUID } from "node:crypto";
import * as vscode from "vscode";
import type { SessionEntry } from "../wire/types";
import type { PanelProvider } from "./panel/provider";
import type { Server } from "./server/server";

/** Let the person choose a session from disk, newest first, and show it. */
export async function openSession(server: Server, panel: PanelProvider): Promise<void> {
  const { sessions } = await server.request("turnbuckle/session/list", {});
  if (!sessions.length) {
    void vscode.window.showInformationMessage("Turnbuckle: there is no session yet.");
    return;
  }
  const items = sessions.map((one) => ({
    label: one.title ?? "Untitled",
    description: about(one),
    one,
  }));
  const chosen = await vscode.window.showQuickPick(items, {
    title: "Open a session",
    matchOnDescription: true,
  });
  if (chosen) await panel.with((bridge) => void bridge.show(chosen.one.sessionId), true);
}

function about({ updated, turns, cwd }: SessionEntry): string {
  const folder =
    cwd === undefined ? "" : ` · ${vscode.workspace.asRelativePath(vscode.Uri.parse(cwd))}`;
  return `${new Date(updated).toLocaleString()} · ${turns === 1 ? "1 turn" : `${turns} turns`}${folder}`;
}

/** Go on with the turn that was cut off; how it ends is shown in the panel. */
export async function resume(server: Server, panel: PanelProvider): Promise<void> {
  const sessionId = shown(panel);
  await panel.with((bridge) => bridge.focus(), true);
  await server.request("turnbuckle/turn", { sessionId, key: randomUUID(), resume: true });
}

export async function exportSession(server: Server, sessionId: string): Promise<void> {
  const { text } = await server.request("turnbuckle/session/export", {
    sessionId,
    format: "markdown",
  });
  const document = await vscode.workspace.openTextDocument({ language: "markdown", content: text });
  await vscode.window.showTextDocument(document, { preview: false });
}

/** What is allowed for the session; what is chosen is asked about again. */
export async function permissions(server: Server, panel: PanelProvider): Promise<void> {
  const sessionId = shown(panel);
  for (;;) {
    const { grants } = await server.request("turnbuckle/grants", { sessionId });
    if (!grants.length) {
      void vscode.window.showInformationMessage(
        "Turnbuckle: nothing is allowed for this session beyond what your own configuration says.",
      );
      return;
    }
    const items = grants.map(({ grantId, subject, since }) => ({
      label: granted(subject),
      description: `since ${new Date(since).toLocaleTimeString()}`,
      grantId,
    }));
    const chosen = await vscode.window.showQuickPick(items, {
      title: "Allowed for this session",
      placeHolder: "Choose what is to be asked about again",
    });
    if (!chosen) return;
    await server.request("turnbuckle/grants/revoke", { sessionId, grantId: chosen.grantId });
  }
}

/** A grant's subject in a line; fields that are not there are left out. */
export function granted(subject: Record<string, unknown>): string {
  const text = (name: string): string => (typeof subject[name] === "string" ? subject[name] : "");
  const place = (): string =>
    text("uri") ? vscode.workspace.asRelativePath(vscode.Uri.parse(text("uri"))) : "";
  switch (subject["kind"]) {
    case "command":
      return `$(terminal) ${text("command").replaceAll(/\s+/g, " ")}`;
    case "change":
      return `$(edit) Edit ${place()}`;
    case "read":
      return `$(book) Read ${place()}`;
    default:
      return "Something that this version of the extension cannot name";
  }
}

/** The session in the panel. */
export function shown(panel: PanelProvider): string {
  const sessionId = panel.bridge?.sessionId;
  if (sessionId === undefined) throw new Error("no session is shown; open the chat first.");
  return sessionId;
}
