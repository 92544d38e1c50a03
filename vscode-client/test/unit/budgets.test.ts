// How large a module may be: what has more in it has a seam that was not found yet.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";

const SOURCE = join(__dirname, "../../src");
const LINES = 250;
const COLUMNS = 100;

const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.tsx?$/.test(name) && !name.endsWith("types.ts"))
  .map((name) => join(SOURCE, name));

describe("every module", () => {
  it("is found", () => {
    expect(files.length).toBeGreaterThan(80);
  });

  it.each(files.map((file) => relative(SOURCE, file)))("%s can be read on a few screens", (name) => {
    const lines = readFileSync(join(SOURCE, name), "utf8").split("\n");
    expect(lines.length).toBeLessThanOrEqual(LINES + 1);
    // A text or a pattern that cannot be broken may be longer.
    const wide = lines.filter((line) => line.length > COLUMNS && !/["'`\/][^"'`]{30,}/.test(line));
    expect(wide).toEqual([]);
  });
});
