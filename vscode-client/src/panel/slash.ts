// What can be typed after a slash.

import { compact, fork } from "./doing";
import type { Store } from "./store";

export interface SlashCommand {
  name: string;
  says: string;
  run(store: Store): void | Promise<unknown>;
}

export const SLASH_COMMANDS: readonly SlashCommand[] = [
  { name: "new", says: "Begin a new session", run: (store) => store.showSession() },
  {
    name: "sessions",
    says: "Look for an earlier session",
    run: (store) => store.setPage("sessions"),
  },
  { name: "model", says: "Choose the model", run: () => focusOn(".model") },
  { name: "compact", says: "Summarise earlier messages, to make room", run: compact },
  { name: "fork", says: "Go on in a copy of this session", run: (store) => fork(store) },
  {
    name: "export",
    says: "Open the session as Markdown",
    run: (store) => {
      const { session } = store.view;
      if (session) store.do({ do: "export", sessionId: session.sessionId });
    },
  },
  {
    name: "permissions",
    says: "See and take back what is allowed",
    run: (store) => store.setPage("grants"),
  },
  {
    name: "key",
    says: "Connect a model: give the key of a provider",
    run: (store) => store.do({ do: "connect" }),
  },
  { name: "settings", says: "Open the settings", run: (store) => store.do({ do: "openSettings" }) },
  { name: "log", says: "Show the server's log", run: (store) => store.do({ do: "showLog" }) },
  { name: "help", says: "How to use the chat", run: (store) => store.setProblem(HELP) },
];

const HELP =
  "@ names a file, / lists commands. While a turn runs, Enter queues a message and Alt+Enter steers. " +
  "Alt+Up goes to the open question, or into the conversation; arrows move there, Escape comes back. " +
  "From here Escape stops the turn. " +
  "Hold Shift to drop files here.";

export function matching(draft: string): SlashCommand[] {
  const word = draft.slice(1).toLowerCase();
  return /\s/.test(word) ? [] : SLASH_COMMANDS.filter((command) => command.name.startsWith(word));
}

export async function run(command: SlashCommand, store: Store): Promise<void> {
  try {
    await command.run(store);
  } catch (error) {
    store.setProblem(error instanceof Error ? error.message : String(error));
  }
}

function focusOn(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.focus();
}
