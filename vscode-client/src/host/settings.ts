// The settings, read where they are used; those that reach the server are the person's own.

import * as vscode from "vscode";
import type { PanelSettings } from "../shared/messages";
import type { Notifications } from "./approvals/router";

export const SECTION = "turnbuckle";

function get<T>(name: string, otherwise: T): T {
  return vscode.workspace.getConfiguration(SECTION).get<T>(name, otherwise);
}

/** A value of the person's own, never one of the workspace: it decides what is run or where to. */
function own<T>(name: string): T | undefined {
  const found = vscode.workspace.getConfiguration(SECTION).inspect<T>(name);
  return found?.globalValue ?? found?.defaultValue;
}

export function interpreterSetting(): string[] | undefined {
  const value = own<string[]>("server.interpreter");
  return value?.length ? value : undefined;
}

export function serverArgs(): string[] {
  return own<string[]>("server.args") ?? [];
}

export function serverEnv(): Record<string, string> {
  return own<Record<string, string>>("server.env") ?? {};
}

/** What the server is told when it starts: the same names as in its own configuration. */
export function serverSettings(): Record<string, unknown> {
  const name = own<string>("model");
  const baseUrl = own<string>("baseUrl");
  const model = { ...(name ? { name } : {}), ...(baseUrl ? { base_url: baseUrl } : {}) };
  return Object.keys(model).length ? { model } : {};
}

/** All that the server is started with, as one text to compare. */
export function startedWith(): string {
  return JSON.stringify([interpreterSetting(), serverArgs(), serverEnv(), serverSettings()]);
}

/** Whether the light bulb offers to ask the agent. */
export function asks(): boolean {
  return get("codeActions.enabled", true);
}

export function notifications(): Notifications {
  return get<Notifications>("notifications", "whenHidden");
}

export function panelSettings(): PanelSettings {
  return {
    sendKey: get("chat.sendKey", "enter"),
    showThinking: get("chat.showThinking", "collapsed"),
    trusted: vscode.workspace.isTrusted,
    folders: (vscode.workspace.workspaceFolders ?? []).map((folder) => ({
      name: folder.name,
      uri: folder.uri.toString(),
    })),
  };
}
