import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { registerCommands, type Parts } from "../../src/host/commands";
import { registered } from "../fakes/vscode";

const CLIENT = resolve(__dirname, "../..");
const read = (...path: string[]): string => readFileSync(join(CLIENT, ...path), "utf8");

interface Placed {
  command: string;
  when?: string;
}
interface Manifest {
  contributes: {
    commands: Placed[];
    menus: Record<string, Placed[]>;
    keybindings: (Placed & { key: string })[];
    configuration: { properties: Record<string, { scope: string; description?: string }> };
    walkthroughs: {
      steps: { description: string; media: { markdown: string }; completionEvents: string[] }[];
    }[];
    views: Record<string, { accessibilityHelpContent: string }[]>;
  };
  capabilities: { untrustedWorkspaces: { restrictedConfigurations: string[] } };
}
const { contributes, capabilities } = JSON.parse(read("package.json")) as Manifest;
const commands = contributes.commands.map((one) => one.command);

/** Ids that are registered: those of the host by running it, those of the edits by their source. */
function handled(): string[] {
  registered.clear();
  registerCommands({} as Parts);
  const source = read("src/edits/index.ts");
  const edits = [...source.matchAll(/\bcommand\("(\w+)"/g)].map(
    (found) => `turnbuckle.ui.${found[1]}`,
  );
  return [...registered.keys(), ...edits].sort();
}

/** The source of the extension itself, without the panel. */
function sources(folder: string): string {
  return readdirSync(join(CLIENT, folder), { withFileTypes: true })
    .map((one) => {
      const path = join(folder, one.name);
      return one.isDirectory() ? sources(path) : read(path);
    })
    .join("\n");
}
const source = ["src/host", "src/edits"].map(sources).join("\n") + read("src/extension.ts");

describe("the manifest", () => {
  it("names each command that is registered, and no other", () => {
    expect([...commands].sort()).toEqual(handled());
  });

  it("has no command that the server advertises", () => {
    const names = read("../server/turnbuckle/lsp/names.py");
    const advertised = [...names.matchAll(/_COMMAND = "([^"]+)"/g)].map((found) => found[1]);
    expect(advertised.length).toBeGreaterThan(10);
    expect(commands.filter((one) => advertised.includes(one))).toEqual([]);
    expect(commands.every((one) => one.startsWith("turnbuckle.ui."))).toBe(true);
  });

  it("leads only to commands that are there", () => {
    const placed = [...Object.values(contributes.menus).flat(), ...contributes.keybindings];
    expect(placed.map((one) => one.command).filter((one) => !commands.includes(one))).toEqual([]);
    const texts = JSON.stringify([contributes.walkthroughs, contributes.views]);
    const linked = [...texts.matchAll(/turnbuckle\.ui\.\w+/g)].map((found) => found[0]);
    expect(linked.length).toBeGreaterThan(5);
    expect(linked.filter((one) => !commands.includes(one))).toEqual([]);
  });

  it("takes no key from the person without a place or a reason", () => {
    const anywhere = contributes.keybindings.filter((one) => one.when === undefined);
    expect(anywhere.map((one) => one.command)).toEqual(["turnbuckle.ui.focusChat"]);
    expect(contributes.keybindings.map((one) => one.key)).not.toContain("ctrl+s");
  });

  it("has only settings that do something, and each is described", () => {
    for (const [name, { scope }] of Object.entries(contributes.configuration.properties)) {
      expect(source, name).toContain(`"${name.replace("turnbuckle.", "")}"`);
      expect(["machine", "window"], name).toContain(scope);
      // What decides what is run or where to is the person's, never a workspace's.
      const decides = name.startsWith("turnbuckle.server.") || /model|baseUrl/.test(name);
      expect(scope === "machine", name).toBe(decides);
      expect(capabilities.untrustedWorkspaces.restrictedConfigurations.includes(name), name).toBe(
        decides,
      );
    }
  });

  it("uses only context keys that are set, and sets only those that are used", () => {
    const placed = [...Object.values(contributes.menus).flat(), ...contributes.keybindings];
    const used = placed.flatMap((one) =>
      [...(one.when ?? "").matchAll(/\bturnbuckle\.\w+/g)].map((found) => found[0]),
    );
    const keys = [...new Set(used)].filter((one) => one !== "turnbuckle.chat").sort();
    const set = [
      ...source.matchAll(/"(turnbuckle\.(?:turnRunning|pendingApproval|has\w+|hunk\w+))"/g),
    ];
    expect(keys).toEqual([...new Set(set.map((found) => found[1]))].sort());
  });

  it("has a walkthrough of four steps whose texts are there", () => {
    const steps = contributes.walkthroughs[0]!.steps;
    expect(steps).toHaveLength(4);
    for (const { media, completionEvents } of steps) {
      expect(read(media.markdown).length).toBeGreaterThan(50);
      expect(completionEvents.length).toBeGreaterThan(0);
    }
  });
});
