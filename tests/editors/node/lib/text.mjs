/** Texts as an editor keeps them: positions count units of the encoding that was agreed on. */

/** The text after content changes, one after another. */
export function edited(text, changes, encoding) {
  return changes.reduce((now, { range, text: put }) => {
    if (range === undefined) return put;
    const [start, end] = [range.start, range.end].map((at) => offset(now, at, encoding));
    return now.slice(0, start) + put + now.slice(end);
  }, text);
}

/** The index of a position in a JavaScript string; what is beyond a line is its end. */
export function offset(text, { line, character }, encoding) {
  const lines = text.split(/(?<=\r\n|\n|\r(?!\n))/);
  const before = lines.slice(0, line).join("").length;
  const content = (lines[line] ?? "").replace(/[\r\n]+$/, "");
  return before + width(content, character, encoding);
}

function width(content, character, encoding) {
  if (encoding === "utf-16") return Math.min(character, content.length);
  return Buffer.from(content).subarray(0, character).toString().length;
}

/** A range from the numbers of lines and characters. */
export const range = (line, character, endLine, endCharacter) => ({
  start: { line, character },
  end: { line: endLine, character: endCharacter },
});
