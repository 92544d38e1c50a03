// What a panel needs of the extension around it.

import type { Action, PanelSettings } from "../../shared/messages";
import type { Server } from "../server/server";
import type { Timer } from "./batcher";

export interface Host {
  server: Server;
  settings(): PanelSettings;
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
