// What can be typed after a slash.

import type { Store } from "./store";

export interface SlashCommand {
  name: string;
  says: string;
  run(store: Store): void | Promise<unknown>;
}

function session(store: Store): string {
  const id = store.view.session?.sessionId;
  if (id === undefined) throw new Error("no session is open");
  return id;
}

export const SLASH_COMMANDS: readonly SlashCommand[] = [
  { name: "new", says: "Begin a new session", run: (store) => store.showSession() },
  { name: "sessions", says: "Look for an earlier session", run: (store) => store.setPage("sessions") },
  {
    name: "compact",
    says: "Summarise earlier messages, to make room",
    run: async (store) => {
      const result = await store.ask("turnbuckle/session/compact", { sessionId: session(store) });
      if (result?.outcome === "nothing") store.setProblem(result.message);
    },
  },
  {
    name: "fork",
    says: "Go on in a copy of this session",
    run: async (store) => {
      const sessionId = session(store);
      const { state } = store.view;
      const turn = state.running ? state.turn - 1 : state.turn;
      const made = await store.ask("turnbuckle/session/fork", { sessionId, turn });
      if (made) store.showSession(made.sessionId);
    },
  },
  {
    name: "export",
    says: "Open the session as Markdown",
    run: (store) => store.do({ do: "export", sessionId: session(store) }),
  },
  { name: "key", says: "Give the key of a provider", run: (store) => store.do({ do: "connect" }) },
  { name: "settings", says: "Open the settings", run: (store) => store.do({ do: "openSettings" }) },
  { name: "log", says: "Show the server's log", run: (store) => store.do({ do: "showLog" }) },
];

export function matching(draft: string): SlashCommand[] {
  const word = draft.slice(1).trim().toLowerCase();
  return SLASH_COMMANDS.filter((command) => command.name.startsWith(word));
}

export async function run(command: SlashCommand, store: Store): Promise<void> {
  try {
    await command.run(store);
  } catch (error) {
    store.setProblem(error instanceof Error ? error.message : String(error));
  }
}
