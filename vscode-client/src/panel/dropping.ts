// What is dropped or pasted: places become chips; the editor lets them through only with Shift.

import { lastPart } from "../session/labels";
import type { Store } from "./store";

const NOTHING =
  "Nothing that was dropped is a file. Hold Shift while you drop files of the editor.";
/** Any scheme of an editor; a page of the web is no file. */
const PLACE = /^(?!https?:)[a-z][a-z0-9+.-]*:\/\//i;
const PICTURE = /\.(png|jpe?g|gif|webp|bmp|ico|tiff?|avif|heic)$/i;

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
      const places = uris.filter((uri) => !PICTURE.test(uri));
      if (places.length) store.do({ do: "drop", uris: places });
      const pictures = [
        ...uris.filter((uri) => PICTURE.test(uri)).map(lastPart),
        ...(uris.length ? [] : picturesIn(event.dataTransfer)),
      ];
      if (pictures.length) store.setProblem(noPictures(pictures));
      else if (!places.length) store.setProblem(NOTHING);
    },
    onPaste: (event) => {
      const pictures = picturesIn(event.clipboardData);
      // What was copied from a document is words and their picture: the words are taken.
      if (!pictures.length || event.clipboardData?.getData("text/plain")) return;
      event.preventDefault();
      store.setProblem(noPictures(pictures));
    },
  };
}

/** Whether it is words and no file. */
function isText(data: DataTransfer | null): boolean {
  const types = [...(data?.types ?? [])];
  if (!types.length || types.includes("Files")) return false;
  return !types.some((type) => /vnd\.code|resourceurls|codeeditors|uri-list/.test(type));
}

function picturesIn(data: DataTransfer | null): string[] {
  return [...(data?.files ?? [])]
    .filter((file) => file.type.startsWith("image/"))
    .map((file) => file.name);
}

function noPictures(names: string[]): string {
  return `Pictures cannot be sent to the model. Left out: ${names.join(", ")}`;
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
