// A message on its way to the server; it comes back into the field if it was not taken.

import { contextLabel } from "../session/labels";
import type { UserItem } from "../session/state";
import type { Chip } from "../shared/messages";
import type { ContextItem } from "../wire/types";
import { Refused, type Store } from "./store";

/** Send what is written, with what it points at. */
export function send(store: Store, steer: boolean): void {
  const { session, chips, draft, settings } = store.view;
  if (!session || !draft.trim() || !settings.trusted) return;
  store.compose("");
  store.clearChips();
  const key = crypto.randomUUID();
  const params = {
    sessionId: session.sessionId,
    key,
    input: [{ type: "text" as const, text: draft }],
    context: chips.map(pointed),
    whenBusy: steer ? ("steer" as const) : ("queue" as const),
  };
  store.call("turnbuckle/turn", params).catch((error: unknown) => {
    // A message that the person dropped, or a turn that they stopped, is no problem.
    if (error instanceof Refused && (error.kind === "dropped" || error.code === -32800)) return;
    store.setProblem(error instanceof Error ? error.message : String(error));
    const entered = store.view.state.items.some((item) => item.kind === "user" && item.key === key);
    if (!entered) store.putBack(session.sessionId, draft, chips);
  });
}

function pointed({ kind, uri, range, version, text }: Chip): ContextItem {
  return {
    kind,
    ...(uri === undefined ? {} : { uri }),
    ...(range === undefined ? {} : { range }),
    ...(version === undefined ? {} : { version }),
    ...(text === undefined ? {} : { text }),
  };
}

let counter = 0;

/** What a message pointed at, as chips for sending it again; files are read anew then. */
export function chipsOf(item: UserItem): Chip[] {
  return item.pointed.map(({ kind, uri, range, text }) => {
    const label = contextLabel({ kind, ...(uri === undefined ? {} : { uri }), range });
    const fromEditor = kind === "file" || kind === "selection";
    return {
      id: `again-${++counter}`,
      kind,
      label,
      detail: uri ?? label,
      ...(uri === undefined ? {} : { uri }),
      ...(range == null ? {} : { range: range as unknown as NonNullable<Chip["range"]> }),
      ...(fromEditor || text == null ? {} : { text }),
    };
  });
}
