// One item in the status bar: what goes on, and where a click leads.

import * as vscode from "vscode";
import type { Server } from "./server/server";
import type { Watch } from "./watch";

export class Status implements vscode.Disposable {
  private readonly item: vscode.StatusBarItem;
  private readonly disposables: vscode.Disposable[];

  constructor(
    private readonly server: Server,
    private readonly watch: Watch,
  ) {
    this.item = vscode.window.createStatusBarItem(
      "turnbuckle",
      vscode.StatusBarAlignment.Right,
      100,
    );
    this.item.name = "Turnbuckle";
    this.disposables = [
      server.onState(() => this.draw()),
      watch.onChanged(() => this.draw()),
      this.item,
    ];
    this.draw();
    this.item.show();
  }

  private draw(): void {
    const { text, tooltip, command } = this.look();
    this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.command = command;
    const waits = this.watch.approvals > 0;
    this.item.backgroundColor = waits
      ? new vscode.ThemeColor("statusBarItem.warningBackground")
      : undefined;
    this.item.accessibilityInformation = { label: tooltip, role: "button" };
  }

  private look(): { text: string; tooltip: string; command: string } {
    const { state, message } = this.server.state;
    if (state === "failed") {
      return {
        text: "$(error) Turnbuckle",
        tooltip: `Turnbuckle: ${message ?? "the server does not run"}`,
        command: "turnbuckle.ui.showLog",
      };
    }
    const { approvals, all } = this.watch;
    if (approvals) {
      const many = approvals === 1 ? "1 question waits" : `${approvals} questions wait`;
      return {
        text: `$(bell-dot) Turnbuckle: ${approvals}`,
        tooltip: `Turnbuckle: ${many} for you`,
        command: "turnbuckle.ui.answer",
      };
    }
    const running = all.filter((one) => one.state !== "idle").length;
    if (running) {
      return {
        text: "$(loading~spin) Turnbuckle",
        tooltip: `Turnbuckle: ${running === 1 ? "a turn runs" : `${running} turns run`}`,
        command: "turnbuckle.ui.focusChat",
      };
    }
    return {
      text: "$(comment-discussion) Turnbuckle",
      tooltip: state === "starting" ? "Turnbuckle is starting" : "Turnbuckle: open the chat",
      command: "turnbuckle.ui.focusChat",
    };
  }

  dispose(): void {
    for (const one of this.disposables) one.dispose();
  }
}
