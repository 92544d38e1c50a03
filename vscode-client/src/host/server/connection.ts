// One language server and the editor's client for it, from its start to its end.

import { spawn, type ChildProcess } from "node:child_process";
import { homedir } from "node:os";
import type * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  ProgressType,
  type LanguageClientOptions,
} from "vscode-languageclient/node";
import type { Value } from "../../shared/messages";
import type { Launch } from "./launch";
import { withoutKeys } from "./redact";
import type { Connect, Connecting, Connection } from "./server";

/** How long a server may take to answer for the first time, in milliseconds. */
const START_TIME = 60_000;
/** How long one that was asked to end may take, and how long it then takes to be gone. */
const STOP_TIME = 2_000;
const GONE_TIME = 1_500;

const ASK = "turnbuckle.ask";

const ANY_PROGRESS = new ProgressType<Value>();

export const connect: Connect = (connecting) => new ClientConnection(connecting);

class ClientConnection implements Connection {
  private readonly client: LanguageClient;
  private process: ChildProcess | undefined;
  private lastWords = "";
  private started = false;

  constructor(private readonly connecting: Connecting) {
    const { launch, save } = connecting;
    const open = async (): Promise<ChildProcess> => (this.process = await this.spawned(launch));
    this.client = new LanguageClient("turnbuckle", "Turnbuckle", open, this.options());
    this.client.onRequest("turnbuckle/save", ({ uris }: { uris: string[] }) => save(uris));
  }

  private options(): LanguageClientOptions {
    const { trusted, settings } = this.connecting.options;
    const { output, asks, closed } = this.connecting;
    return {
      documentSelector: [{ scheme: "file" }, { scheme: "untitled" }, { scheme: "vscode-remote" }],
      outputChannel: output,
      traceOutputChannel: withoutKeys(output),
      initializationOptions: {
        turnbuckle: { client: { protocolVersions: [1], events: {}, save: {} }, trusted, settings },
      },
      middleware: {
        provideCodeActions: async (document, range, context, token, next) => {
          const found = await next(document, range, context, token);
          return asks() ? found : found?.filter((one) => commandOf(one) !== ASK);
        },
      },
      // The failure is told in the panel and the status bar, not by a box of its own.
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        // Whether it is started again is decided by who holds this connection.
        closed: () => {
          closed();
          return { action: CloseAction.DoNotRestart, handled: true };
        },
      },
    };
  }

  /**
   * It is started in the home folder: in the workspace's, a file named like the interpreter could
   * be run in its place.
   */
  private spawned({ command, args, env }: Launch): Promise<ChildProcess> {
    const child = spawn(command, args, { env, cwd: homedir(), windowsHide: true });
    child.stderr.on("data", (data: Buffer) => {
      this.lastWords = (this.lastWords + data.toString()).slice(-2000);
    });
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("spawn", () => resolve(child));
    });
  }

  async start(): Promise<void> {
    const slow = setTimeout(() => this.process?.kill(), START_TIME);
    try {
      await this.client.start();
      this.started = true;
    } catch (error) {
      const why = this.lastWords.trim().split("\n").at(-1);
      throw why ? new Error(`The server did not start: ${why}`) : error;
    } finally {
      clearTimeout(slow);
    }
  }

  async stop(): Promise<void> {
    // A client that has not started cannot be stopped, but its process can.
    if (!this.started) this.process?.kill();
    await this.client.dispose(STOP_TIME).catch(() => undefined);
    await this.gone();
  }

  /** Until the process is gone it holds the sessions that it wrote. */
  private async gone(): Promise<void> {
    const child = this.process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    await new Promise<void>((resolve) => {
      const kill = setTimeout(() => child.kill("SIGKILL"), GONE_TIME);
      child.once("exit", () => {
        clearTimeout(kill);
        resolve();
      });
    });
  }

  request(method: string, params: unknown, token?: vscode.CancellationToken): Promise<unknown> {
    // An argument that is there and undefined would make the params a list.
    return token
      ? this.client.sendRequest(method, params, token)
      : this.client.sendRequest(method, params);
  }

  onValues(token: string, handler: (value: Value) => void): vscode.Disposable {
    return this.client.onProgress(ANY_PROGRESS, token, handler);
  }
}

function commandOf(action: vscode.Command | vscode.CodeAction): string | undefined {
  return typeof action.command === "string" ? action.command : action.command?.command;
}
