// What can be done with the session that is shown, from the menu and after a slash alike.

import { shownPlace } from "../session/labels";
import type { SessionRewindResult } from "../wire/types";
import type { Store, View } from "./store";

export async function compact(store: Store): Promise<void> {
  const { session } = store.view;
  if (!session) return;
  const result = await store.ask("turnbuckle/session/compact", { sessionId: session.sessionId });
  if (result?.outcome === "nothing") store.setProblem(result.message);
}

/** Go on in a copy, up to the end of this turn; without one, of the last turn that is over. */
export async function fork(store: Store, upTo?: number): Promise<void> {
  const { session, state } = store.view;
  if (!session) return;
  const turn = upTo ?? (state.running ? state.turn - 1 : state.turn);
  const made = await store.ask("turnbuckle/session/fork", { sessionId: session.sessionId, turn });
  if (made) store.showSession(made.sessionId);
}

/** Delete a session; when it is the one that is shown, a new one takes its place. */
export async function remove(store: Store, sessionId: string): Promise<boolean> {
  if (!(await store.ask("turnbuckle/session/delete", { sessionId }))) return false;
  if (store.view.session?.sessionId === sessionId) store.showSession();
  return true;
}

export async function undoRewind(store: Store): Promise<void> {
  const { session } = store.view;
  if (!session) return;
  const { sessionId } = session;
  const params = { sessionId, undo: true, files: "restore" as const };
  tellSkipped(store, await store.ask("turnbuckle/session/rewind", params));
}

/** Back to before a turn; whether that was done. What was left alone is said. */
export async function rewind(
  store: Store,
  turn: number,
  files: "keep" | "restore",
): Promise<boolean> {
  const { session } = store.view;
  if (!session) return false;
  const params = { sessionId: session.sessionId, turn, files };
  const done = await store.ask("turnbuckle/session/rewind", params);
  tellSkipped(store, done);
  return done !== undefined;
}

function tellSkipped(store: Store, done: SessionRewindResult | undefined): void {
  const { folders } = store.view.settings;
  const skipped = done?.skipped.map(({ uri, why }) => `${shownPlace(uri, folders)}: ${why}`) ?? [];
  if (skipped.length) store.setProblem(`Left as they are: ${skipped.join("; ")}`);
}

/** Whether the session has this model now. */
export async function chooseModel(store: Store, model: string): Promise<boolean> {
  const { session } = store.view;
  if (!session) return false;
  const { sessionId } = session;
  const config = await store.ask("turnbuckle/session/configure", { sessionId, model });
  if (config && store.view.session?.sessionId === sessionId) store.configured(config);
  return config !== undefined;
}

/** The turn that runs in this window, and that can be stopped. */
export function stoppable({ session, state }: View): string | undefined {
  return state.running && session && !session.readOnly
    ? `${session.sessionId}/${state.running.turn}`
    : undefined;
}

/** Stop the turn that runs, once; messages that wait stay, and wait on. */
export async function stop(store: Store): Promise<void> {
  const turn = stoppable(store.view);
  if (turn === undefined || turn === store.view.stopping) return;
  store.setStopping(turn);
  const sessionId = store.view.session!.sessionId;
  const done = await store.ask("turnbuckle/cancel", { sessionId, keepQueue: true });
  // One that was refused can be tried again.
  if (!done && store.view.stopping === turn) store.setStopping(undefined);
}

/** Go on with a turn that ended too early. */
export async function resume(store: Store): Promise<boolean> {
  const { session } = store.view;
  if (!session) return false;
  const params = { sessionId: session.sessionId, key: crypto.randomUUID(), resume: true };
  return (await store.ask("turnbuckle/turn", params)) !== undefined;
}
