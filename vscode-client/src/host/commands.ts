// Our own commands, all of them `turnbuckle.ui.*`; those of the server belong to the server.

import * as vscode from "vscode";
import type { Reviews } from "../edits/review";
import type { OpenApprovals } from "./approvals/follow";
import type { Router } from "./approvals/router";
import { diagnosticsChip, placeChip, selectionChip } from "./context/chips";
import type { Terminals } from "./context/terminal";
import type { Credentials } from "./credentials";
import type { PanelProvider } from "./panel/provider";
import type { Server } from "./server/server";
import type { Chip } from "../shared/messages";
import type { Watch } from "./watch";
import { pickModel, useDemo } from "./models";
import type { Restarting } from "./restarting";
import { exportSession, openSession, permissions, resume, shown } from "./sessions";

export interface Parts {
  server: Server;
  watch: Watch;
  panel: PanelProvider;
  router: Router;
  approvals: OpenApprovals;
  reviews: Reviews;
  credentials: Credentials;
  terminals: Terminals;
  restarting: Restarting;
  output: vscode.LogOutputChannel;
}

export function registerCommands(parts: Parts): vscode.Disposable[] {
  const { server, panel, router, credentials, terminals, output } = parts;
  const commands: Record<string, (...args: never[]) => unknown> = {
    newSession: () => panel.with((bridge) => void bridge.showNew(bridge.folder), true),
    openSession: () => openSession(server, panel),
    resume: () => resume(server, panel),
    exportTranscript: () => exportSession(server, shown(panel)),
    permissions: () => permissions(server, panel),
    focusChat: () => panel.with((bridge) => bridge.focus(), true),
    addSelection: () => addSelection(panel),
    addFile: (uri?: vscode.Uri, all?: vscode.Uri[]) => addFiles(panel, uri, all),
    addProblems: () => addProblems(panel),
    addTerminal: () =>
      addTerminal(panel, () => terminals.output(), "run a command in a terminal first"),
    addTerminalSelection: () =>
      addTerminal(panel, () => terminals.selection(), "select something in a terminal first"),
    review: (approvalId: unknown) => review(parts, approvalId),
    answer: (approvalId?: unknown) =>
      router.pick(typeof approvalId === "string" ? approvalId : undefined),
    stop: () => stop(parts),
    selectModel: () => pickModel(server, panel.bridge?.sessionId),
    setKey: () => credentials.ask(),
    clearKeys: async () => {
      await credentials.clear();
      void vscode.window.showInformationMessage(
        "Turnbuckle: the keys that you gave are forgotten.",
      );
    },
    useDemo: () => useDemo(parts.restarting),
    showLog: () => output.show(true),
    restartServer: () => server.restart(),
    reloadChat: () => panel.reload(),
    openWalkthrough: () =>
      vscode.commands.executeCommand(
        "workbench.action.openWalkthrough",
        "turnbuckle.turnbuckle#start",
        false,
      ),
  };
  return Object.entries(commands).map(([name, run]) => command(name, run));
}

/** A command of ours, whose failure the person reads. */
export function command(name: string, run: (...args: never[]) => unknown): vscode.Disposable {
  return vscode.commands.registerCommand(`turnbuckle.ui.${name}`, async (...args: never[]) => {
    try {
      await run(...args);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      void vscode.window.showErrorMessage(`Turnbuckle: ${text}`);
    }
  });
}

async function addSelection(panel: PanelProvider): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor) await panel.with((bridge) => bridge.addChips([selectionChip(editor)]), false);
}

async function addFiles(panel: PanelProvider, uri?: vscode.Uri, all?: vscode.Uri[]): Promise<void> {
  const active = vscode.window.activeTextEditor?.document.uri;
  const uris = all?.length
    ? all
    : [uri ?? active].filter((one): one is vscode.Uri => one !== undefined);
  if (!uris.length) return;
  const chips = await Promise.all(uris.map(placeChip));
  await panel.with((bridge) => bridge.addChips(chips), false);
}

async function addProblems(panel: PanelProvider): Promise<void> {
  const uri = vscode.window.activeTextEditor?.document.uri;
  const chip = uri && diagnosticsChip(uri);
  if (chip) await panel.with((bridge) => bridge.addChips([chip]), false);
  else void vscode.window.showInformationMessage("Turnbuckle: this file has no problems.");
}

async function addTerminal(
  panel: PanelProvider,
  take: () => Promise<Chip | undefined>,
  otherwise: string,
): Promise<void> {
  const chip = await take();
  if (chip) await panel.with((bridge) => bridge.addChips([chip]), false);
  else void vscode.window.showInformationMessage(`Turnbuckle: ${otherwise}.`);
}

/** The turn of the session in the panel, or the only one that runs. */
async function stop({ server, panel, watch }: Parts): Promise<void> {
  const running = watch.all.filter((one) => one.state !== "idle").map((one) => one.sessionId);
  const inPanel = panel.bridge?.sessionId;
  const sessionId =
    inPanel !== undefined && running.includes(inPanel) ? inPanel : (running[0] ?? inPanel);
  if (sessionId === undefined || server.state.state !== "running") return;
  await server.request("turnbuckle/cancel", { sessionId, keepQueue: true });
}

/** The named edit, or the one that waits. */
async function review({ approvals, reviews, router }: Parts, approvalId: unknown): Promise<void> {
  if (typeof approvalId === "string") return reviews.open(approvalId);
  const edits = approvals.open.filter(({ approval }) => approval.subject.kind === "change");
  if (edits.length === 1) return reviews.open(edits[0]!.approval.approvalId);
  await router.pick();
}
