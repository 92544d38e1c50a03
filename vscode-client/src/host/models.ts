// Choosing a model for the session that is shown.

import * as vscode from "vscode";
import type { Server } from "./server/server";

export async function pickModel(server: Server, sessionId: string | undefined): Promise<void> {
  if (sessionId === undefined) return;
  const { models } = await server.request("turnbuckle/models", {});
  const items = models.map((one) => ({
    label: one.name,
    description: one.provider,
    detail: one.unavailable ?? (one.window === undefined ? "" : `${one.window.toLocaleString()} tokens`),
    one,
  }));
  const chosen = await vscode.window.showQuickPick(items, {
    title: "The model for this session",
    matchOnDescription: true,
  });
  if (chosen) await server.request("turnbuckle/session/configure", { sessionId, model: chosen.one.name });
}
