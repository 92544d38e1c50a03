// What is dropped or pasted becomes chips: places, which the editor lets through only with Shift,
// and pictures.

import { pictureChip } from "./pictures";
import type { Store } from "./store";

const NOTHING =
  "Nothing that was dropped is a file. Hold Shift while you drop files of the editor.";
/** Any scheme of an editor; a page of the web is no file. */
const PLACE = /^(?!https?:)[a-z][a-z0-9+.-]*:\/\//i;
export interface Dropping {
  onDragOver(event: DragEvent): void;
  onDragLeave(event: DragEvent): void;
  onDrop(event: DragEvent): void;
  onPaste(event: ClipboardEvent): void;
}

export function dropping(store: Store, setOver: (over: boolean) => void): Dropping {
  return {
    onDragOver: (event) => {
      if (isText(event.dataTransfer)) return;
      event.preventDefault();
      if (event.dataTransfer) event.dataTransfer.dropEffect = "copy";
      setOver(true);
    },
    onDragLeave: (event) => {
      const inside = (event.currentTarget as Node).contains(event.relatedTarget as Node | null);
      if (!inside) setOver(false);
    },
    onDrop: (event) => {
      setOver(false);
      if (isText(event.dataTransfer)) return; // the field takes it
      event.preventDefault();
      const uris = dropped((type) => event.dataTransfer?.getData(type) ?? "");
      const files = uris.length ? [] : picturesIn(event.dataTransfer);
      if (uris.length) store.do({ do: "drop", uris });
      else if (files.length) void show(store, files);
      else store.setProblem(NOTHING);
    },
    onPaste: (event) => {
      const pictures = picturesIn(event.clipboardData);
      // What was copied from a document is words and their picture: the words are taken.
      if (!pictures.length || event.clipboardData?.getData("text/plain")) return;
      event.preventDefault();
      void show(store, pictures);
    },
  };
}

/** Whether it is words and no file. */
function isText(data: DataTransfer | null): boolean {
  const types = [...(data?.types ?? [])];
  if (!types.length || types.includes("Files")) return false;
  return !types.some((type) => /vnd\.code|resourceurls|codeeditors|uri-list/.test(type));
}

function picturesIn(data: DataTransfer | null): File[] {
  return [...(data?.files ?? [])].filter((file) => file.type.startsWith("image/"));
}

async function show(store: Store, files: File[]): Promise<void> {
  try {
    store.addChips(await Promise.all(files.map(pictureChip)));
  } catch (error) {
    store.setProblem(`The picture could not be read: ${String(error)}`);
  }
}

/** The places in what was dropped, of any scheme, as the editor and the desktop write them. */
export function dropped(data: (type: string) => string): string[] {
  const lists = [data("application/vnd.code.uri-list"), data("text/uri-list")];
  const lines = lists
    .find(Boolean)
    ?.split(/\r?\n/)
    .filter((line) => line && !line.startsWith("#"));
  const found = lines?.length ? lines : parsed(data("resourceurls"));
  return [...new Set(found.filter((uri) => PLACE.test(uri)))].slice(0, 100);
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
