// The panel as a view: made when it is first shown, made again when it was moved or reloaded.

import * as vscode from "vscode";
import type { FromPanel } from "../../shared/messages";
import { Bridge } from "./bridge";
import type { Host } from "./host";
import { page } from "./html";

export const VIEW = "turnbuckle.chat";

export class PanelProvider implements vscode.WebviewViewProvider, vscode.Disposable {
  private view: vscode.WebviewView | undefined;
  private current: Bridge | undefined;
  private readonly changed = new vscode.EventEmitter<void>();
  /** The panel was shown, hidden, or shows another session. */
  readonly onChanged = this.changed.event;
  private waiting: ((bridge: Bridge) => void)[] = [];

  constructor(
    private readonly extension: vscode.Uri,
    private readonly host: Omit<Host, "reload">,
  ) {}

  get bridge(): Bridge | undefined {
    return this.current;
  }

  /** Whether a person can see the panel now. */
  get visible(): boolean {
    return this.view?.visible ?? false;
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.current?.dispose();
    this.view = view;
    view.webview.options = {
      enableScripts: true,
      localResourceRoots: [vscode.Uri.joinPath(this.extension, "dist", "panel")],
    };
    const bridge = new Bridge((message) => void view.webview.postMessage(message), {
      ...this.host,
      reload: () => this.load(view),
    });
    this.current = bridge;
    const listening = [
      view.webview.onDidReceiveMessage((message: FromPanel) => bridge.receive(message)),
      view.onDidChangeVisibility(() => {
        bridge.setVisible(view.visible);
        this.changed.fire();
      }),
    ];
    view.onDidDispose(() => {
      for (const one of listening) one.dispose();
      bridge.dispose();
      // A view that was moved is disposed after the new one is there.
      if (this.view === view) {
        this.view = undefined;
        this.current = undefined;
      }
      this.changed.fire();
    });
    this.load(view);
    this.changed.fire();
    for (const tell of this.waiting.splice(0)) tell(bridge);
  }

  private load(view: vscode.WebviewView): void {
    view.webview.html = page(view.webview, this.extension);
  }

  /** Do something with the panel, which is shown first if it is not there yet. */
  async with(use: (bridge: Bridge) => void, focus: boolean): Promise<void> {
    if (this.current && this.visible && !focus) {
      use(this.current);
      return;
    }
    const there = this.current
      ? Promise.resolve(this.current)
      : new Promise<Bridge>((resolve) => this.waiting.push(resolve));
    await vscode.commands.executeCommand(`${VIEW}.focus`, { preserveFocus: !focus });
    use(await there);
  }

  reload(): void {
    if (this.view) this.load(this.view);
  }

  set badge(badge: vscode.ViewBadge | undefined) {
    if (this.view) this.view.badge = badge;
  }

  dispose(): void {
    this.current?.dispose();
    this.changed.dispose();
  }
}
