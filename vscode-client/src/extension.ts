// Where the parts of the extension meet; none of them is started before it is wanted.

import * as vscode from "vscode";
import { act } from "./host/actions";
import { OpenApprovals } from "./host/approvals/follow";
import { Router } from "./host/approvals/router";
import { QuestionTexts } from "./host/approvals/texts";
import { registerEdits } from "./edits";
import { command, registerCommands } from "./host/commands";
import { Terminals } from "./host/context/terminal";
import { Contexts } from "./host/contexts";
import { Credentials } from "./host/credentials";
import { PanelProvider, VIEW } from "./host/panel/provider";
import { apis } from "./host/python";
import { Restarting } from "./host/restarting";
import { save } from "./host/saving";
import { launch, runProcess } from "./host/server/launch";
import { candidates, locate } from "./host/server/locate";
import { LanguageServer } from "./host/server/server";
import * as settings from "./host/settings";
import { shownSession } from "./host/shown";
import { Status } from "./host/status";
import { Watch } from "./host/watch";

let running: LanguageServer | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const output = vscode.window.createOutputChannel("Turnbuckle", { log: true });
  const log = (text: string): void => output.warn(text);
  const server = new LanguageServer({
    find: async () => {
      const interpreter = await locate(candidates(apis(), process.platform), runProcess);
      output.info(`Python ${interpreter.version.join(".")} from ${interpreter.source}`);
      const extra = { args: settings.serverArgs(), env: settings.serverEnv() };
      return launch(interpreter, context.extensionPath, extra);
    },
    options: () => ({ trusted: vscode.workspace.isTrusted, settings: settings.serverSettings() }),
    output,
    save,
    asks: settings.asks,
    load: async () => (await import("./host/server/connection")).connect,
  });
  running = server;
  const watch = new Watch(server, log);
  const credentials = new Credentials(context.secrets, context.globalState, server, log);
  const approvals = new OpenApprovals(server, watch, log);
  const { reviews, disposables } = registerEdits({ server, watch, approvals, log, command });
  const restarting = new Restarting(server, settings.startedWith, log);
  const terminals = new Terminals();
  const texts = new QuestionTexts();
  const review = (approvalId: string): Promise<void> => reviews.open(approvalId);
  const place = context.storageUri ?? context.globalStorageUri;
  const panel: PanelProvider = new PanelProvider(context.extensionUri, {
    server,
    settings: settings.panelSettings,
    sessions: watch,
    act: (action) =>
      act(action, {
        server,
        credentials,
        restarting,
        terminals,
        output,
        review,
        chips: (chips) => panel.bridge?.addChips(chips),
        found: (id, chips) => panel.bridge?.found(id, chips),
      }),
    ...shownSession(vscode.Uri.joinPath(place, "shown").fsPath, log),
    log,
  });
  const router = new Router(server, approvals, panel, settings.notifications, review, texts);
  context.subscriptions.push(
    output,
    server,
    watch,
    credentials,
    approvals,
    panel,
    router,
    restarting,
    terminals,
    texts,
    new Status(server, watch),
    new Contexts(watch),
    vscode.window.registerWebviewViewProvider(VIEW, panel),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (!event.affectsConfiguration(settings.SECTION)) return;
      panel.bridge?.settingsChanged();
      restarting.changed();
    }),
    vscode.workspace.onDidChangeWorkspaceFolders(() => panel.bridge?.settingsChanged()),
    vscode.workspace.onDidGrantWorkspaceTrust(() => {
      panel.bridge?.settingsChanged();
      // Trust is handed over when the server starts.
      if (server.state.state !== "stopped")
        void server.restart().catch((error: unknown) => log(String(error)));
    }),
    ...disposables,
    ...registerCommands({
      server,
      watch,
      panel,
      router,
      approvals,
      reviews,
      credentials,
      terminals,
      restarting,
      output,
    }),
  );
  startWhenWanted(context, server, log);
}

/** The server ends with the window: until it is gone the next window cannot write its sessions. */
export function deactivate(): Promise<void> | undefined {
  return running?.close();
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
