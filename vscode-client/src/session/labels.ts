// Names of places and of what was pointed at, short enough for a chip.

export interface Pointed {
  kind: string;
  uri?: string;
  range?: unknown;
}

export function contextLabel(context: Pointed): string {
  const name = context.uri === undefined ? "" : lastPart(context.uri);
  switch (context.kind) {
    case "selection": {
      const lines = linesOf(context.range);
      if (!lines) return name;
      const [first, last] = lines;
      return first === last ? `${name}:${first}` : `${name}:${first}–${last}`;
    }
    case "diagnostics":
      return name ? `problems in ${name}` : "problems";
    case "terminal":
      return "terminal";
    case "text":
      return "text";
    case "image":
      return name || "picture";
    default:
      return context.uri?.endsWith("/") ? `${name}/` : name; // a folder says that it is one
  }
}

/** The first and last line of a range, counted from 1. */
function linesOf(range: unknown): [number, number] | undefined {
  const { start, end } = (range ?? {}) as { start?: { line?: unknown }; end?: { line?: unknown } };
  if (typeof start?.line !== "number" || typeof end?.line !== "number") return undefined;
  return [start.line + 1, end.line + 1];
}

export function lastPart(uri: string): string {
  const path = (uri.split(/[?#]/)[0] ?? uri).replace(/\/$/, "");
  return decoded(path.slice(path.lastIndexOf("/") + 1));
}

/** A place as people write it: from its folder if it lies in one of these, else its whole path. */
export function shownPlace(uri: string, folders: readonly { name: string; uri: string }[]): string {
  const path = uri.split(/[?#]/)[0] ?? uri;
  for (const folder of folders) {
    const root = folder.uri.replace(/\/$/, "");
    if (path === root) return folder.name;
    if (path.startsWith(`${root}/`)) {
      const inside = decoded(path.slice(root.length + 1));
      return folders.length > 1 ? `${folder.name}/${inside}` : inside;
    }
  }
  return decoded(path.replace(/^file:\/\//, ""));
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

export function firstLine(text: string): string {
  return (text.trim().split("\n")[0] ?? "").slice(0, 120);
}
