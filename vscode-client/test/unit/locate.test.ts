import { describe, expect, it } from "vitest";
import {
  candidates,
  locate,
  NoInterpreter,
  type Apis,
  type Run,
} from "../../src/host/server/locate";
import { apis as realApis, type GetExtension } from "../../src/host/python";

const NONE: Apis = {
  setting: () => undefined,
  environments: () => Promise.resolve(undefined),
  python: () => Promise.resolve(undefined),
};

/** A machine with these commands; each prints its version. */
const machine =
  (versions: Record<string, string>): Run =>
  (command) => {
    const printed = versions[command.slice(0, command.indexOf("-c")).join(" ")];
    return printed === undefined ? Promise.reject(new Error("ENOENT")) : Promise.resolve(printed);
  };

describe("the interpreter", () => {
  it("is that of the setting, before all others", async () => {
    const apis = {
      ...NONE,
      setting: () => ["/own/python"],
      python: () => Promise.resolve("/other"),
    };
    const run = machine({ "/own/python": "3 12\n", "/other": "3 13" });
    expect(await locate(candidates(apis, "linux"), run)).toMatchObject({
      command: ["/own/python"],
      version: [3, 12],
    });
  });

  it("that is set and too old is refused by name, not passed over", async () => {
    const apis = { ...NONE, setting: () => ["/old"] };
    const found = locate(candidates(apis, "linux"), machine({ "/old": "3 9", python3: "3 12" }));
    await expect(found).rejects.toThrow(NoInterpreter);
    await expect(found).rejects.toThrow(/a Python from 3\.11 to 3\.14.*\/old.*Python 3\.9/s);
  });

  it("that nothing is bundled for is passed over for one that it is", async () => {
    const apis = { ...NONE, python: () => Promise.resolve("/new") };
    const run = machine({ "/new": "3 15", python3: "3 14" });
    expect((await locate(candidates(apis, "linux"), run)).command).toEqual(["python3"]);
  });

  it("is asked of the extensions in order, and then looked for on the PATH", async () => {
    const both = {
      ...NONE,
      environments: () => Promise.resolve("/envs"),
      python: () => Promise.resolve("/py"),
    };
    const run = machine({ "/envs": "3 11", "/py": "3 12", python3: "3 13" });
    expect((await locate(candidates(both, "linux"), run)).command).toEqual(["/envs"]);
    const broken = { ...both, environments: () => Promise.reject(new Error("no API")) };
    expect((await locate(candidates(broken, "linux"), run)).command).toEqual(["/py"]);
    expect((await locate(candidates(NONE, "linux"), run)).command).toEqual(["python3"]);
    expect((await locate(candidates(NONE, "win32"), machine({ "py -3": "3 11" }))).command).toEqual(
      ["py", "-3"],
    );
  });

  it("that is none says what was looked at and what to do", async () => {
    const run = machine({ python3: "3 8", python: "not python" });
    await expect(locate(candidates(NONE, "linux"), run)).rejects.toThrow(
      /turnbuckle\.server\.interpreter.*python3 on the PATH.*Python 3\.8.*is no Python/s,
    );
  });
});

describe("the Python extensions", () => {
  const extension =
    (found: Record<string, unknown>): GetExtension =>
    (id) =>
      id in found ? { activate: () => Promise.resolve(found[id]) } : undefined;

  it("are asked by their own interfaces", async () => {
    const uri = { fsPath: "/resolved" };
    const get = extension({
      "ms-python.vscode-python-envs": {
        getEnvironment: () => Promise.resolve({ execInfo: { run: { executable: "/env" } } }),
      },
      "ms-python.python": {
        environments: {
          getActiveEnvironmentPath: () => ({ path: "/x" }),
          resolveEnvironment: () => Promise.resolve({ executable: { uri } }),
        },
      },
    });
    expect(await realApis(get).environments()).toBe("/env");
    expect(await realApis(get).python()).toBe("/resolved");
  });

  it("that are not there, or know nothing, offer nothing", async () => {
    expect(await realApis(extension({})).environments()).toBeUndefined();
    expect(await realApis(extension({})).python()).toBeUndefined();
    const get = extension({
      "ms-python.vscode-python-envs": { getEnvironment: () => Promise.resolve(undefined) },
    });
    expect(await realApis(get).environments()).toBeUndefined();
  });
});
