// Pictures as they are sent: of a type that models take, and no larger than a model looks at.

import type { Chip } from "../shared/messages";

const TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
/** A picture of more bytes, in base64, is drawn anew. */
const LARGE = 512 * 1024;
/** The longest edge of one that is drawn anew, in pixels: models see no more. */
const EDGE = 1568;

/** The chip of a picture that was pasted or dropped. */
export async function pictureChip(file: File): Promise<Chip> {
  return fitted({
    id: crypto.randomUUID(),
    kind: "image",
    label: file.name || "picture",
    detail: file.name || "picture",
    mimeType: file.type,
    data: await base64(file),
  });
}

/** The same, made small enough; what cannot be drawn stays as it is, and the server says why not. */
export async function fitted(chip: Chip): Promise<Chip> {
  const { data = "", mimeType = "" } = chip;
  if (data.length <= LARGE && TYPES.has(mimeType)) return chip;
  try {
    const picture = new Image();
    picture.src = `data:${mimeType};base64,${data}`;
    await picture.decode();
    const scale = Math.min(1, EDGE / Math.max(picture.naturalWidth, picture.naturalHeight));
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(picture.naturalWidth * scale);
    canvas.height = Math.round(picture.naturalHeight * scale);
    const context = canvas.getContext("2d")!;
    // Where one sees through it, a JPEG would be black.
    context.fillStyle = "#fff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(picture, 0, 0, canvas.width, canvas.height);
    const drawn = [canvas.toDataURL("image/png"), canvas.toDataURL("image/jpeg", 0.9)];
    const url = drawn.find((one) => one.length <= LARGE) ?? drawn[1]!;
    return { ...chip, mimeType: url.slice(5, url.indexOf(";")), data: url.split(",")[1]! };
  } catch {
    return chip;
  }
}

function base64(file: File): Promise<string> {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(String(reader.result).split(",")[1] ?? "");
    reader.onerror = () => failed(reader.error ?? new Error("it cannot be read"));
    reader.readAsDataURL(file);
  });
}
