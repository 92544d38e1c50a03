// A message on its way to the server; it comes back into the field if it was not taken.

import { contextLabel } from "../session/labels";
import type { Chip } from "../shared/messages";
import type { Context, ContextItem, ImagePart } from "../wire/types";
import type { Written } from "./api";
import { Refused, type Store } from "./store";

/** Send what is written, with what it points at. */
export function send(store: Store, steer: boolean): void {
  const { session, chips, draft, settings } = store.view;
  if (!session || !draft.trim() || !settings.trusted) return;
  store.compose("");
  store.clearChips();
  submit(store, session.sessionId, { draft, chips }, steer ? "steer" : "queue");
}

export function submit(
  store: Store,
  sessionId: string,
  written: Written,
  whenBusy: "queue" | "steer",
): void {
  const key = crypto.randomUUID();
  const images = written.chips.filter((chip) => chip.kind === "image").map(shown);
  const input = [{ type: "text" as const, text: written.draft }, ...images];
  const context = written.chips.map(pointed).filter((one) => one !== undefined);
  const params = { sessionId, key, input, context, whenBusy };
  store.call("turnbuckle/turn", params).catch((error: unknown) => {
    // A message that the person dropped, or a turn that they stopped, is no problem.
    if (error instanceof Refused && (error.kind === "dropped" || error.code === -32800)) return;
    store.setProblem(error instanceof Error ? error.message : String(error));
    const { items, waiting } = store.view.state;
    const known =
      items.some((item) => item.kind === "user" && item.key === key) ||
      waiting.some((one) => one.key === key);
    if (!known) store.putBack(sessionId, written);
  });
}

function shown({ mimeType, data, digest }: Chip): ImagePart {
  if (digest !== undefined) return { type: "image", digest };
  // Of another type it is refused, with the reason.
  const type = mimeType as NonNullable<ImagePart["mimeType"]>;
  return { type: "image", mimeType: type, data: data ?? "" };
}

function pointed({ kind, uri, range, version, text }: Chip): ContextItem | undefined {
  if (kind === "image") return undefined;
  return {
    kind,
    ...(uri === undefined ? {} : { uri }),
    ...(range === undefined ? {} : { range }),
    ...(version === undefined ? {} : { version }),
    ...(text === undefined ? {} : { text }),
  };
}

/** What a message pointed at, as chips for sending it again; files are read anew then. */
export function chipsOf(pointed: readonly Context[]): Chip[] {
  return pointed.map(({ kind, uri, range, text, image }) => {
    const label = contextLabel({ kind, ...(uri === undefined ? {} : { uri }), range });
    const fromEditor = kind === "file" || kind === "selection";
    return {
      id: crypto.randomUUID(),
      kind,
      label,
      detail: uri ?? label,
      ...(uri === undefined ? {} : { uri }),
      ...(range == null ? {} : { range: range as unknown as NonNullable<Chip["range"]> }),
      ...(fromEditor || text == null ? {} : { text }),
      ...(image ? { digest: image.digest } : {}),
    };
  });
}
