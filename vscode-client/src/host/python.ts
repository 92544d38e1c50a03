// Where the Python extensions say the interpreter is; both may be absent. In a workspace that is
// not trusted they are not asked: what they name may lie in it.

import * as vscode from "vscode";
import type { Apis } from "./server/locate";
import { interpreterSetting } from "./settings";

/** As much of the Python Environments extension's API as is used. */
interface EnvironmentsApi {
  getEnvironment(
    scope: vscode.Uri | undefined,
  ): Promise<{ execInfo?: { run?: { executable?: string } } } | undefined>;
}

/** As much of the Python extension's API as is used. */
interface PythonApi {
  environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(path: {
      path: string;
    }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
  };
}

export type GetExtension = (id: string) => { activate(): Thenable<unknown> } | undefined;

export function apis(extension: GetExtension = vscode.extensions.getExtension): Apis {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  return {
    setting: interpreterSetting,
    environments: async () => {
      if (!vscode.workspace.isTrusted) return undefined;
      const found = await extension("ms-python.vscode-python-envs")?.activate();
      return (await (found as EnvironmentsApi | undefined)?.getEnvironment(folder))?.execInfo?.run
        ?.executable;
    },
    python: async () => {
      if (!vscode.workspace.isTrusted) return undefined;
      const found = (await extension("ms-python.python")?.activate()) as PythonApi | undefined;
      if (!found) return undefined;
      const { environments } = found;
      const resolved = await environments.resolveEnvironment(
        environments.getActiveEnvironmentPath(folder),
      );
      return resolved?.executable.uri?.fsPath;
    },
  };
}
