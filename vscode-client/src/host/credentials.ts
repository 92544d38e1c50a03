// Keys of providers: kept by the editor, handed to the server's memory, written nowhere else.

import * as vscode from "vscode";
import type { Server } from "./server/server";

const PREFIX = "turnbuckle.key.";
const KNOWN = "turnbuckle.keys";

export class Credentials implements vscode.Disposable {
  private readonly disposables: vscode.Disposable[];

  constructor(
    private readonly secrets: vscode.SecretStorage,
    private readonly names: vscode.Memento,
    private readonly server: Server,
    private readonly log: (text: string) => void,
  ) {
    // A server that was started anew has forgotten them.
    this.disposables = [server.onRunning(() => void this.handOver())];
  }

  private get providers(): string[] {
    return this.names.get<string[]>(KNOWN, []);
  }

  private async handOver(): Promise<void> {
    for (const provider of this.providers) {
      const key = await this.secrets.get(PREFIX + provider);
      if (key === undefined) continue;
      await this.server
        .request("turnbuckle/credentials", { provider, key })
        .catch(() => this.log(`the key of ${provider} was not taken`));
    }
  }

  /** Hand a key over; whatever a failure says, it does not repeat the key. */
  private async give(provider: string, key: string): Promise<void> {
    try {
      await this.server.request("turnbuckle/credentials", { provider, key });
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      throw new Error(said.replaceAll(key, "…"));
    }
  }

  /** Let the person choose a provider and type its key; says whether one was set. */
  async ask(): Promise<boolean> {
    const { providers = [] } = await this.server.request("turnbuckle/models", {});
    const items = providers
      .filter((one) => one.key !== "needless")
      .map((one) => ({
        label: one.title,
        description: one.key === "absent" ? "" : `key from the ${one.key}`,
        detail: one.keysAt ? `Keys: ${one.keysAt}` : "",
        provider: one.provider,
      }));
    const chosen = await vscode.window.showQuickPick(items, { title: "Which provider's key?" });
    if (!chosen) return false;
    const key = await vscode.window.showInputBox({
      title: `Key for ${chosen.label}`,
      prompt: "It is kept in the editor's secret storage and in the server's memory, nowhere else.",
      password: true,
      ignoreFocusOut: true,
      validateInput: (value) => (value.trim() ? undefined : "Paste the key, or press Escape."),
    });
    if (key === undefined) return false;
    // The server says first whether it takes it.
    await this.give(chosen.provider, key.trim());
    await this.secrets.store(PREFIX + chosen.provider, key.trim());
    await this.names.update(KNOWN, [...new Set([...this.providers, chosen.provider])]);
    return true;
  }

  /** Forget every key that was given here, in the editor and in the server. */
  async clear(): Promise<void> {
    for (const provider of this.providers) {
      await this.secrets.delete(PREFIX + provider);
      if (this.server.state.state !== "running") continue; // one that starts later knows none
      await this.server.request("turnbuckle/credentials", { provider }).catch(() => undefined);
    }
    await this.names.update(KNOWN, []);
  }

  dispose(): void {
    for (const one of this.disposables) one.dispose();
  }
}
