// Which files are pictures that a model can be shown.

const TYPES = new Map([
  ["png", "image/png"],
  ["jpg", "image/jpeg"],
  ["jpeg", "image/jpeg"],
  ["gif", "image/gif"],
  ["webp", "image/webp"],
]);

/** The type of a picture, by the end of its name. */
export function pictureType(place: string): string | undefined {
  return TYPES.get(/\.(\w+)$/.exec(place)?.[1]?.toLowerCase() ?? "");
}
