// Where the parts of the extension meet; none of them is started before it is wanted.

import * as vscode from "vscode";
import { act } from "./host/actions";
import { OpenApprovals } from "./host/approvals/follow";
import { Router } from "./host/approvals/router";
import { registerEdits } from "./edits";
import { command, registerCommands } from "./host/commands";
import { Credentials } from "./host/credentials";
import { PanelProvider, VIEW } from "./host/panel/provider";
import { apis } from "./host/python";
import { save } from "./host/saving";
import { launch, runProcess } from "./host/server/launch";
import { candidates, locate } from "./host/server/locate";
import { LanguageServer } from "./host/server/server";
import * as settings from "./host/settings";
import { Status } from "./host/status";
import { Watch } from "./host/watch";

const SHOWN = "turnbuckle.shown";

export function activate(context: vscode.ExtensionContext): void {
  const output = vscode.window.createOutputChannel("Turnbuckle", { log: true });
  const log = (text: string): void => output.warn(text);
  const server = new LanguageServer(
    async () => {
      const interpreter = await locate(candidates(apis(), process.platform), runProcess);
      output.info(`Python ${interpreter.version.join(".")} from ${interpreter.source}`);
      const extra = { args: settings.serverArgs(), env: settings.serverEnv() };
      return launch(interpreter, context.extensionPath, extra);
    },
    () => ({ trusted: vscode.workspace.isTrusted, settings: settings.serverSettings() }),
    output,
    save,
  );
  const watch = new Watch(server, log);
  const credentials = new Credentials(context.secrets, context.globalState, server, log);
  const approvals = new OpenApprovals(server, watch, log);
  const { reviews, disposables } = registerEdits({ server, watch, approvals, log, command });
  const review = (approvalId: string): Promise<void> => reviews.open(approvalId);
  const panel: PanelProvider = new PanelProvider(context.extensionUri, {
    server,
    settings: settings.panelSettings,
    act: (action) =>
      act(action, {
        server,
        credentials,
        output,
        review,
        chips: (chips) => panel.bridge?.addChips(chips),
        found: (id, chips) => panel.bridge?.found(id, chips),
      }),
    remembered: () => context.workspaceState.get<string>(SHOWN),
    remember: (sessionId) => void context.workspaceState.update(SHOWN, sessionId),
    log,
  });
  const router = new Router(server, approvals, panel, settings.notifications, review);
  context.subscriptions.push(
    output,
    server,
    watch,
    credentials,
    approvals,
    panel,
    router,
    new Status(server, watch),
    vscode.window.registerWebviewViewProvider(VIEW, panel),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration(settings.SECTION)) panel.bridge?.settingsChanged();
    }),
    vscode.workspace.onDidChangeWorkspaceFolders(() => panel.bridge?.settingsChanged()),
    vscode.workspace.onDidGrantWorkspaceTrust(() => {
      panel.bridge?.settingsChanged();
      // Trust is handed over when the server starts.
      if (server.state.state !== "stopped") void server.restart().catch((error: unknown) => log(String(error)));
    }),
    ...disposables,
    ...registerCommands({ server, panel, router, approvals, reviews, credentials, output }),
  );
  startWhenWanted(context, server, log);
}

/** The server is started with the first file that is looked at, since it offers code actions. */
function startWhenWanted(
  context: vscode.ExtensionContext,
  server: LanguageServer,
  log: (text: string) => void,
): void {
  const start = (editor: vscode.TextEditor | undefined): void => {
    if (editor?.document.uri.scheme !== "file") return;
    listening.dispose();
    // Its failure is shown in the status bar; it is tried again when something is asked.
    server.start().catch((error: unknown) => log(String(error)));
  };
  const listening = vscode.window.onDidChangeActiveTextEditor(start);
  context.subscriptions.push(listening);
  start(vscode.window.activeTextEditor);
}
