// Turns before those that are shown, read page by page.

import { Reducer } from "../session/reduce";
import type { Item } from "../session/state";
import type { Fact } from "../wire/types";
import type { Calling } from "./calling";

/** How many facts are read at once when older turns are asked for. */
export const OLDER = 400;

export interface Older {
  items: Item[];
  /** The first fact of them; 0 when there is nothing before. */
  from: number;
}

/** What stands before `older`, and `older`. */
export async function before(calling: Calling, sessionId: string, older: Older): Promise<Older> {
  const { facts, whole } = await turnsBefore(calling, sessionId, older.from);
  const reducer = new Reducer();
  for (const fact of facts) reducer.apply(fact);
  const known = new Set(older.items.map((item) => item.id));
  const items = reducer.state.items.filter((item) => !known.has(item.id));
  return { items: [...items, ...older.items], from: whole ? 0 : (facts[0]?.seq ?? 0) };
}

/** The facts of whole turns that end before `until`; `whole` if nothing stands before them. */
async function turnsBefore(
  calling: Calling,
  sessionId: string,
  until: number,
): Promise<{ facts: Fact[]; whole: boolean }> {
  let from = Math.max(0, until - OLDER);
  for (;;) {
    const facts: Fact[] = [];
    for (let next = from; next < until;) {
      const params = { sessionId, from: next, to: until - 1 };
      const { events } = await calling.call("turnbuckle/session/read", params);
      const page = events as unknown as Fact[];
      const last = page.at(-1)?.seq;
      if (last === undefined || last < next) break;
      facts.push(...page);
      next = last + 1;
    }
    if (from === 0) return { facts, whole: true };
    const start = facts.findIndex((fact) => fact.type === "turn/start");
    // A message is added before its turn begins, with what it points at.
    if (start >= 0) return { facts: facts.slice(withMessages(facts, start)), whole: false };
    from = Math.max(0, from - OLDER);
  }
}

function withMessages(facts: Fact[], start: number): number {
  let first = start;
  while (first > 0 && facts[first - 1]?.type === "inbox/added") first--;
  return first;
}
