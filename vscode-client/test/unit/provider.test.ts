import { describe, expect, it } from "vitest";
import type * as vscode from "vscode";
import { PanelProvider, VIEW } from "../../src/host/panel/provider";
import { VERSION, type ToPanel } from "../../src/shared/messages";
import { FakeServer, FakeTime, settle } from "../fakes/server";
import { does, EventEmitter, ran, Uri } from "../fakes/vscode";

class FakeView {
  visible = true;
  badge: unknown;
  readonly posts: ToPanel[] = [];
  readonly messages = new EventEmitter<unknown>();
  readonly visibility = new EventEmitter<void>();
  readonly disposal = new EventEmitter<void>();
  readonly onDidChangeVisibility = this.visibility.event;
  readonly onDidDispose = this.disposal.event;
  readonly webview = {
    options: {} as vscode.WebviewOptions,
    html: "",
    cspSource: "https://source",
    asWebviewUri: (uri: unknown) => uri,
    onDidReceiveMessage: this.messages.event,
    postMessage: (message: ToPanel) => Promise.resolve(this.posts.push(message) > 0),
  };
  show(visible: boolean): void {
    this.visible = visible;
    this.visibility.fire();
  }
  get view(): vscode.WebviewView {
    return this as unknown as vscode.WebviewView;
  }
}

function providing() {
  const server = new FakeServer({
    "turnbuckle/session/open": () => ({ sessionId: "s", seq: 1, readOnly: false, config: {} }),
    "turnbuckle/session/events": () => ({ from: 0, seq: 1 }),
    "turnbuckle/session/events/stop": () => ({}),
  });
  const provider = new PanelProvider(Uri.parse("file:///extension") as unknown as vscode.Uri, {
    server: server.server,
    sessions: { all: [], onChanged: new EventEmitter<void>().event },
    settings: () => ({ sendKey: "enter", showThinking: "off", trusted: true, folders: [] }),
    act: () => Promise.resolve(),
    remembered: () => "s",
    remember: () => undefined,
    log: () => undefined,
    timer: new FakeTime().timer,
  });
  const ready = async (view: FakeView): Promise<void> => {
    view.messages.fire({ type: "ready", version: VERSION });
    await settle();
  };
  return { server, provider, ready };
}

describe("the view", () => {
  it("lets nothing in but its own script, style and font", () => {
    const { provider } = providing();
    const view = new FakeView();
    provider.resolveWebviewView(view.view);
    const { html, options } = view.webview;
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https:\s|\*/);
    expect(html.match(/<script/g)).toHaveLength(1);
    expect(String(options.localResourceRoots)).toBe("file:///extension/dist/panel");
    const nonce = /'nonce-([^']+)'/.exec(policy)![1]!;
    expect(html).toContain(`<script nonce="${nonce}"`);
  });

  it("that was moved lives on when the one before is disposed of late", async () => {
    const { provider, ready, server } = providing();
    const old = new FakeView();
    provider.resolveWebviewView(old.view);
    await ready(old);
    const moved = new FakeView();
    provider.resolveWebviewView(moved.view);
    await ready(moved);
    old.disposal.fire();
    await settle();
    expect(provider.visible).toBe(true);
    expect(provider.bridge?.sessionId).toBe("s");
    provider.badge = { value: 1, tooltip: "1" };
    expect(moved.badge).toEqual({ value: 1, tooltip: "1" });
    expect(server.tokens).toHaveLength(1);
    const posted = old.posts.length;
    provider.bridge?.settingsChanged();
    expect(old.posts).toHaveLength(posted);
    moved.disposal.fire();
    await settle();
    expect(provider.bridge).toBeUndefined();
    expect(server.tokens).toEqual([]);
  });

  it("that is hidden is shown before something is added to it, and takes no focus", async () => {
    const { provider, ready } = providing();
    const view = new FakeView();
    provider.resolveWebviewView(view.view);
    await ready(view);
    view.show(false);
    does.set(`${VIEW}.focus`, () => view.show(true));
    const chip = { id: "c", kind: "file", label: "a", detail: "a" } as const;
    await provider.with((bridge) => bridge.addChips([chip]), false);
    expect(ran.at(-1)).toEqual({ command: `${VIEW}.focus`, args: [{ preserveFocus: true }] });
    await ready(view);
    expect(view.posts.filter((post) => post.type === "chips")).toHaveLength(1);
  });

  it("is made by what wants it first", async () => {
    const { provider, ready } = providing();
    const view = new FakeView();
    does.set(`${VIEW}.focus`, () => provider.resolveWebviewView(view.view));
    await provider.with((bridge) => bridge.focus(), true);
    await ready(view);
    expect(view.posts.map((post) => post.type)).toContain("focus");
  });
});
