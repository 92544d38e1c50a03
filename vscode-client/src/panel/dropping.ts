// Files that are dropped become chips; the editor lets them through only while Shift is held.

import type { Store } from "./store";

const NOTHING =
  "Nothing that was dropped is a file. Hold Shift while you drop files of the editor.";

export interface Dropping {
  onDragOver(event: DragEvent): void;
  onDragLeave(event: DragEvent): void;
  onDrop(event: DragEvent): void;
}

export function dropping(store: Store, setOver: (over: boolean) => void): Dropping {
  return {
    onDragOver: (event) => {
      event.preventDefault();
      if (event.dataTransfer) event.dataTransfer.dropEffect = "copy";
      setOver(true);
    },
    onDragLeave: (event) => {
      const inside = (event.currentTarget as Node).contains(event.relatedTarget as Node | null);
      if (!inside) setOver(false);
    },
    onDrop: (event) => {
      event.preventDefault();
      setOver(false);
      const uris = dropped((type) => event.dataTransfer?.getData(type) ?? "");
      if (uris.length) store.do({ do: "drop", uris });
      else store.setProblem(NOTHING);
    },
  };
}

/** The places in what was dropped, of any scheme, as the editor and the desktop write them. */
export function dropped(data: (type: string) => string): string[] {
  const lists = [data("application/vnd.code.uri-list"), data("text/uri-list")];
  const lines = lists
    .find(Boolean)
    ?.split(/\r?\n/)
    .filter((line) => line && !line.startsWith("#"));
  const found = lines?.length ? lines : parsed(data("resourceurls"));
  return [...new Set(found.filter((uri) => /^[a-z][a-z0-9+.-]*:\/\//i.test(uri)))].slice(0, 100);
}

function parsed(json: string): string[] {
  try {
    const value: unknown = JSON.parse(json || "[]");
    return Array.isArray(value)
      ? value.filter((one): one is string => typeof one === "string")
      : [];
  } catch {
    return [];
  }
}
