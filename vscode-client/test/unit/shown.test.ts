import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { shownSession } from "../../src/host/shown";

let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "turnbuckle-shown-"));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

describe("the shown session", () => {
  const at = (): string => join(place, "not", "yet", "shown");

  it("is known to the next window as soon as it is stored", () => {
    const first = shownSession(at(), () => undefined);
    expect(first.remembered()).toBeUndefined();
    first.remember("empty", false);
    expect(first.remembered()).toBe("empty");
    expect(shownSession(at(), () => undefined).remembered()).toBeUndefined();
    first.remember("empty", true);
    expect(shownSession(at(), () => undefined).remembered()).toBe("empty");
    first.remember("another", false);
    expect(shownSession(at(), () => undefined).remembered()).toBeUndefined();
  });

  it("is known in this window where it cannot be kept, which is said", () => {
    writeFileSync(join(place, "not"), "a file");
    const log: string[] = [];
    const memory = shownSession(at(), (text) => log.push(text));
    memory.remember("s", true);
    expect(memory.remembered()).toBe("s");
    expect(log).toHaveLength(1);
  });
});
