// Choosing a model for the session that is shown.

import * as vscode from "vscode";
import type { Restarting } from "./restarting";
import type { Server } from "./server/server";

export async function pickModel(server: Server, sessionId: string | undefined): Promise<void> {
  if (sessionId === undefined) throw new Error("no session is shown; open the chat first.");
  const { models } = await server.request("turnbuckle/models", {});
  const items = models.map((one) => ({
    label: one.name,
    description: one.provider,
    detail:
      one.unavailable ?? (one.window === undefined ? "" : `${one.window.toLocaleString()} tokens`),
    one,
  }));
  const chosen = await vscode.window.showQuickPick(items, {
    title: "The model for this session",
    matchOnDescription: true,
  });
  if (chosen)
    await server.request("turnbuckle/session/configure", { sessionId, model: chosen.one.name });
}

/** Set the offline model for this person, and start the server with it. */
export async function useDemo(restarting: Restarting): Promise<void> {
  const target = vscode.ConfigurationTarget.Global;
  await vscode.workspace.getConfiguration("turnbuckle").update("model", "demo", target);
  await restarting.apply();
}
