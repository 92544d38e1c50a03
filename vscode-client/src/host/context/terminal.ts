// What terminals said: the output of the last command where the shell tells of commands, else
// what the editor can copy.

import * as vscode from "vscode";
import type { Chip } from "../../shared/messages";
import { makeChip } from "./chips";

/** The most characters that are taken from a terminal. */
export const TERMINAL_TEXT = 32 * 1024;

interface Said {
  command: string;
  text: string;
}

/** Follows the commands of all terminals; of each the last one's output is kept, and only its end. */
export class Terminals implements vscode.Disposable {
  private readonly last = new Map<vscode.Terminal, Said>();
  private readonly disposables: vscode.Disposable[];

  constructor() {
    this.disposables = [
      vscode.window.onDidStartTerminalShellExecution(
        ({ terminal, execution }) => void this.follow(terminal, execution),
      ),
      vscode.window.onDidCloseTerminal((terminal) => this.last.delete(terminal)),
    ];
  }

  private async follow(
    terminal: vscode.Terminal,
    execution: vscode.TerminalShellExecution,
  ): Promise<void> {
    const said: Said = { command: execution.commandLine.value, text: "" };
    // What it said before stands until the new command has said something.
    for await (const data of execution.read()) {
      said.text = (said.text + data).slice(-2 * TERMINAL_TEXT);
      this.last.set(terminal, said);
    }
  }

  /** The output of the last command of the terminal in use; no clipboard is touched. */
  get lastOutput(): Chip | undefined {
    const terminal = vscode.window.activeTerminal;
    const said = terminal && this.last.get(terminal);
    const text = said && plain(said.text).slice(-TERMINAL_TEXT);
    return text?.trim() ? terminalChip(`$ ${said?.command ?? ""}\n${text}`) : undefined;
  }

  /** The same, or what the editor copies where the shell tells of no commands. */
  async output(): Promise<Chip | undefined> {
    return this.lastOutput ?? (await copied("workbench.action.terminal.copyLastCommandOutput"));
  }

  /** What is selected; there is no other way to it than the clipboard. */
  selection(): Promise<Chip | undefined> {
    return copied("workbench.action.terminal.copySelection");
  }

  dispose(): void {
    for (const one of this.disposables) one.dispose();
  }
}

/** What a command copies; the text in the clipboard is put back as it was. */
async function copied(command: string): Promise<Chip | undefined> {
  if (!vscode.window.activeTerminal) return undefined;
  const before = await vscode.env.clipboard.readText();
  try {
    await vscode.env.clipboard.writeText("");
    await vscode.commands.executeCommand(command);
    const text = await vscode.env.clipboard.readText();
    return text.trim() ? terminalChip(text.slice(-TERMINAL_TEXT)) : undefined;
  } finally {
    await vscode.env.clipboard.writeText(before);
  }
}

function terminalChip(text: string): Chip {
  return makeChip({
    kind: "terminal",
    text,
    detail: text.trim().split("\n")[0]?.slice(0, 120) ?? "",
  });
}

// Colours, cursor movements, titles and marks of the shell; then the other control characters.
// eslint-disable-next-line no-control-regex -- they are what is looked for
const SEQUENCES =
  /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[ -/]*[0-~]/g;
// eslint-disable-next-line no-control-regex -- they are what is looked for
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f]/g;

/** Text as a person saw it: without sequences, and of a line that was drawn over the last state. */
export function plain(text: string): string {
  return text
    .replace(SEQUENCES, "")
    .replace(/\r+\n/g, "\n")
    .split("\n")
    .map((line) => line.slice(line.lastIndexOf("\r", line.length - 2) + 1))
    .join("\n")
    .replace(CONTROLS, "");
}
