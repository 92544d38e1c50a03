// Which rows stand for which items: calls that only looked at something are drawn together.

import type { CallItem, Item } from "../session/state";

export interface GroupRow {
  kind: "group";
  id: string;
  calls: CallItem[];
}

export type RowItem = Item | GroupRow;

/** So many calls in a row are drawn as one. */
const MANY = 4;

const QUIET = new Set(["read_file", "list_files", "search", "use_skill"]);

/** The plan stands below, as it is now: the calls that wrote it are no news. */
export function isShown(item: Item): boolean {
  return item.kind !== "call" || item.name !== "todo_write" || item.state === "failed";
}

/** Groups are made only of what something stands behind already: the end moves by itself. */
export function rowsOf(items: readonly Item[]): RowItem[] {
  const rows: RowItem[] = [];
  let calls: CallItem[] = [];
  const close = (more: boolean): void => {
    if (more && calls.length >= MANY)
      rows.push({ kind: "group", id: `group-${calls[0]!.id}`, calls });
    else rows.push(...calls);
    calls = [];
  };
  for (const item of items) {
    if (item.kind === "call" && item.state === "done" && !item.approval && QUIET.has(item.name)) {
      calls.push(item);
    } else {
      close(true);
      rows.push(item);
    }
  }
  close(false);
  return rows;
}

/** "Read 5 files, searched 2 times" */
export function groupWords(calls: readonly CallItem[]): string {
  const count = (name: string): number => calls.filter((call) => call.name === name).length;
  const parts = [
    part(count("read_file"), "read", "file", "files"),
    part(count("list_files"), "listed", "folder", "folders"),
    part(count("search"), "searched", "time", "times"),
    part(count("use_skill"), "used", "skill", "skills"),
  ]
    .filter(Boolean)
    .join(", ");
  return parts.charAt(0).toUpperCase() + parts.slice(1);
}

function part(count: number, verb: string, one: string, many: string): string {
  if (!count) return "";
  return verb === "searched" && count === 1
    ? "searched once"
    : `${verb} ${count} ${count === 1 ? one : many}`;
}
