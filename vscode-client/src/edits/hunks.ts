// Open hunks where the code stands: painted, stepped through, accepted or rejected at the cursor.

import * as vscode from "vscode";
import type { Server } from "../host/server/server";
import type { Watch } from "../host/watch";
import type { ReviewHunk } from "../wire/types";

interface Placed {
  uri: vscode.Uri;
  hunk: ReviewHunk;
  range: vscode.Range;
}

const HAS_HUNKS = "turnbuckle.hasHunks";
const AT_CURSOR = "turnbuckle.hunkAtCursor";

export class Hunks implements vscode.Disposable {
  private readonly byFile = new Map<string, Placed[]>();
  private readonly replaced = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("diffEditor.removedLineBackground"),
    overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.modifiedForeground"),
    overviewRulerLane: vscode.OverviewRulerLane.Left,
  });
  private readonly inserted = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    borderWidth: "0 0 1px 0",
    borderStyle: "dashed",
    borderColor: new vscode.ThemeColor("editorOverviewRuler.addedForeground"),
    overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.addedForeground"),
    overviewRulerLane: vscode.OverviewRulerLane.Left,
  });
  private readonly disposables: vscode.Disposable[];

  constructor(
    private readonly server: Server,
    watch: Watch,
    private readonly log: (text: string) => void,
  ) {
    this.disposables = [
      this.replaced,
      this.inserted,
      watch.onReview((uri) => void this.look(uri)),
      server.onRunning(() => {
        const files = [...this.byFile.keys()];
        this.byFile.clear();
        for (const uri of files) this.paint(uri);
        void this.look(undefined);
      }),
      vscode.window.onDidChangeVisibleTextEditors(() => this.paintAll()),
      vscode.window.onDidChangeTextEditorSelection(() => this.tellContext()),
      vscode.window.onDidChangeActiveTextEditor(() => this.tellContext()),
    ];
  }

  /** Ask what is open in a file, or in all of them. */
  private async look(uri: string | undefined): Promise<void> {
    try {
      const { changes } = await this.server.request(
        "turnbuckle/review/list",
        uri === undefined ? {} : { uri },
      );
      const files = changes.flatMap((change) => change.files);
      if (uri === undefined) this.byFile.clear();
      else this.byFile.delete(uri);
      for (const file of files) {
        const placed = file.hunks
          .filter((hunk) => hunk.state === "open")
          .map((hunk) => ({ uri: vscode.Uri.parse(file.uri, true), hunk, range: asRange(hunk) }));
        if (placed.length)
          this.byFile.set(file.uri, [...(this.byFile.get(file.uri) ?? []), ...placed]);
      }
      if (uri === undefined) this.paintAll();
      else this.paint(uri);
    } catch (error) {
      this.log(`the open hunks could not be listed: ${String(error)}`);
    }
    this.tellContext();
  }

  private paintAll(): void {
    for (const editor of vscode.window.visibleTextEditors)
      this.paint(editor.document.uri.toString());
  }

  private paint(uri: string): void {
    const placed = this.byFile.get(uri) ?? [];
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document.uri.toString() !== uri) continue;
      const ranges = (insert: boolean): vscode.Range[] =>
        placed
          .filter(({ hunk }) => (hunk.oldText === "") === insert)
          .map(({ range }) => lines(range));
      editor.setDecorations(this.replaced, ranges(false));
      editor.setDecorations(this.inserted, ranges(true));
    }
  }

  private tellContext(): void {
    const editor = vscode.window.activeTextEditor;
    const here = editor ? this.byFile.get(editor.document.uri.toString()) : undefined;
    void vscode.commands.executeCommand("setContext", HAS_HUNKS, Boolean(here?.length));
    void vscode.commands.executeCommand("setContext", AT_CURSOR, this.atCursor() !== undefined);
  }

  private atCursor(): Placed | undefined {
    const editor = vscode.window.activeTextEditor;
    if (!editor) return undefined;
    const placed = this.byFile.get(editor.document.uri.toString()) ?? [];
    return placed.find(({ range }) =>
      lines(range).contains(editor.selection.active.with({ character: 0 })),
    );
  }

  /** Go to the next open hunk, over all files, or to the one before. */
  async step(forwards: boolean): Promise<void> {
    const all = [...this.byFile.values()].flat().sort(inOrder);
    const editor = vscode.window.activeTextEditor;
    if (!all.length) {
      void vscode.window.setStatusBarMessage("Turnbuckle: no hunk is open", 3000);
      return;
    }
    const uri = editor?.document.uri.toString() ?? "";
    const line = editor?.selection.active.line ?? -1;
    const order = forwards ? all : [...all].reverse();
    const next = order.find((one) => {
      const side = compare(one.uri.toString(), uri) || one.range.start.line - line;
      return forwards ? side > 0 : side < 0;
    });
    const { uri: target, range } = next ?? order[0]!;
    await vscode.window.showTextDocument(target, {
      selection: new vscode.Range(range.start, range.start),
    });
  }

  async resolve(action: "accept" | "reject"): Promise<void> {
    const placed = this.atCursor();
    if (!placed) {
      void vscode.window.setStatusBarMessage("Turnbuckle: no open hunk at the cursor", 3000);
      return;
    }
    const decisions = [{ hunkId: placed.hunk.hunkId, action }];
    const { outcomes } = await this.server.request("turnbuckle/review/resolve", { decisions });
    const said = outcomes[0];
    if (said?.message) void vscode.window.setStatusBarMessage(`Turnbuckle: ${said.message}`, 5000);
  }

  dispose(): void {
    for (const one of this.disposables) one.dispose();
  }
}

function asRange({ range }: ReviewHunk): vscode.Range {
  return new vscode.Range(
    range.start.line,
    range.start.character,
    range.end.line,
    range.end.character,
  );
}

/** Whole lines; a range that ends at the start of a line does not touch that line. */
function lines(range: vscode.Range): vscode.Range {
  const last =
    range.end.character === 0 && range.end.line > range.start.line
      ? range.end.line - 1
      : range.end.line;
  return new vscode.Range(range.start.line, 0, last, Number.MAX_SAFE_INTEGER);
}

function inOrder(one: Placed, other: Placed): number {
  return (
    compare(one.uri.toString(), other.uri.toString()) ||
    one.range.start.compareTo(other.range.start)
  );
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
