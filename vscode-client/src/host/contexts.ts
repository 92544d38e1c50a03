// Keys for `when`: what goes on decides which commands the palette offers and which keys do.

import * as vscode from "vscode";
import type { Watch } from "./watch";

export class Contexts implements vscode.Disposable {
  private readonly known = new Map<string, boolean>();
  private readonly listening: vscode.Disposable;

  constructor(private readonly watch: Watch) {
    this.listening = watch.onChanged(() => this.tell());
    this.tell();
  }

  private tell(): void {
    this.set("turnbuckle.turnRunning", this.watch.all.some((one) => one.state !== "idle"));
    this.set("turnbuckle.pendingApproval", this.watch.approvals > 0);
  }

  private set(key: string, value: boolean): void {
    if (this.known.get(key) === value) return;
    this.known.set(key, value);
    void vscode.commands.executeCommand("setContext", key, value);
  }

  dispose(): void {
    this.listening.dispose();
  }
}
