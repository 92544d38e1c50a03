// What a panel needs of the extension around it.

import type * as vscode from "vscode";
import type { Action, PanelSettings, SessionNote } from "../../shared/messages";
import type { Server } from "../server/server";
import type { Timer } from "./batcher";

export interface Host {
  server: Server;
  settings(): PanelSettings;
  /** What goes on in all sessions of this window. */
  sessions: { readonly all: readonly SessionNote[]; readonly onChanged: vscode.Event<void> };
  act(action: Action): Promise<void>;
  /** The session that was shown last in this window, over reloads. */
  remembered(): string | undefined;
  /** One that has no facts yet is `stored` nowhere, and gone with its server. */
  remember(sessionId: string, stored: boolean): void;
  /** Load the page again: it answers no longer. */
  reload(): void;
  log(text: string): void;
  timer?: Timer;
}
