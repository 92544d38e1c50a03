// The review of one proposed change: the editor's own diff, with a right side that can be edited.

import * as vscode from "vscode";
import type { OpenApprovals } from "../host/approvals/follow";
import type { Server } from "../host/server/server";
import type { ReviewFile } from "../wire/types";
import { lastPart } from "../session/reduce";
import { ProposalFiles, SCHEME } from "./files";
import { proposed, verdict } from "./proposed";

interface Shown {
  approvalId: string;
  file: string;
  base: string;
  proposal: string;
  left: vscode.Uri;
  right: vscode.Uri;
}

export class Reviews implements vscode.Disposable {
  private shown: Shown[] = [];
  private readonly disposables: vscode.Disposable[];

  constructor(
    private readonly server: Server,
    private readonly approvals: OpenApprovals,
    private readonly files: ProposalFiles,
  ) {
    this.disposables = [approvals.onChanged(() => void this.closeSettled())];
  }

  /** Open the diff of a change; of several files the first, the others are picked from a list. */
  async open(approvalId: string): Promise<void> {
    const found = this.approvals.find(approvalId);
    if (!found) {
      void vscode.window.showInformationMessage("Turnbuckle: that edit is decided already.");
      return;
    }
    const { changes } = await this.server.request("turnbuckle/review/list", {
      sessionId: found.sessionId,
    });
    const change = changes.find((one) => one.approvalId === approvalId);
    const file = change && (await pick(change.files));
    if (file) await this.show(approvalId, file);
  }

  private async show(approvalId: string, file: ReviewFile): Promise<void> {
    const uri = vscode.Uri.parse(file.uri, true);
    const name = lastPart(file.uri);
    const at = (side: string): vscode.Uri =>
      vscode.Uri.from({ scheme: SCHEME, path: `/${approvalId}/${side}/${hash(file.uri)}/${name}` });
    const right = at("after");
    const open = file.hunks.filter((hunk) => hunk.state === "open");
    let left = uri;
    let base = "";
    let proposal: string;
    if (file.kind === "create") {
      left = at("before");
      this.files.put(left, "", true);
      proposal = open.map((hunk) => hunk.newText).join("");
    } else {
      const document = await vscode.workspace.openTextDocument(uri);
      base = document.getText();
      proposal = file.kind === "delete" ? "" : proposed(asOffsets(document), open);
    }
    const known = this.shown.find((one) => one.right.toString() === right.toString());
    if (!known) {
      this.files.put(right, proposal);
      this.shown.push({ approvalId, file: file.uri, base, proposal, left, right });
    }
    await vscode.commands.executeCommand("vscode.diff", left, right, `${name}: proposed edit`, {
      preview: false,
      preserveFocus: true,
    } satisfies vscode.TextDocumentShowOptions);
  }

  /** Accept the change of this proposal with whatever the person made of it. */
  async accept(right: vscode.Uri | undefined): Promise<void> {
    const one = this.of(right);
    if (!one) return;
    const edits: Record<string, string> = {};
    const mine = this.shown.filter((other) => other.approvalId === one.approvalId);
    let nothing = mine.length > 0;
    for (const { file, base, proposal, right: uri } of mine) {
      const now = this.textOf(uri);
      const made = verdict(base, proposal, now);
      if (made === "changed") edits[file] = now;
      if (made === "nothing") edits[file] = base;
      nothing &&= made === "nothing";
    }
    const { approvalId } = one;
    const answer = nothing
      ? ({ approvalId, decision: "reject", note: "I took every change of it out." } as const)
      : ({
          approvalId,
          decision: "allow",
          ...(Object.keys(edits).length ? { edits } : {}),
        } as const);
    await this.answer(answer);
  }

  async reject(right: vscode.Uri | undefined, withNote: boolean): Promise<void> {
    const one = this.of(right);
    if (!one) return;
    const note = withNote
      ? await vscode.window.showInputBox({ title: "Why not?", ignoreFocusOut: true })
      : undefined;
    if (withNote && note === undefined) return;
    await this.answer({
      approvalId: one.approvalId,
      decision: "reject",
      ...(note ? { note } : {}),
    });
  }

  private async answer(
    params: Parameters<typeof this.server.request<"turnbuckle/approve">>[1],
  ): Promise<void> {
    const { accepted } = await this.server.request("turnbuckle/approve", params);
    if (!accepted) {
      void vscode.window.setStatusBarMessage("Turnbuckle: that question is settled already", 5000);
    }
    await this.close(params.approvalId);
  }

  private of(right: vscode.Uri | undefined): Shown | undefined {
    const uri = right ?? activeDiff();
    return this.shown.find((one) => one.right.toString() === uri?.toString());
  }

  /** What the right side holds now, saved or not. */
  private textOf(uri: vscode.Uri): string {
    const open = vscode.workspace.textDocuments.find(
      (one) => one.uri.toString() === uri.toString(),
    );
    return open ? open.getText() : this.files.text(uri);
  }

  private async closeSettled(): Promise<void> {
    const open = new Set(this.approvals.open.map((one) => one.approval.approvalId));
    const settled = new Set(this.shown.map((one) => one.approvalId).filter((id) => !open.has(id)));
    for (const approvalId of settled) await this.close(approvalId);
  }

  /** Close our own tabs of a change, and leave the focus where it is. */
  private async close(approvalId: string): Promise<void> {
    const mine = this.shown.filter((one) => one.approvalId === approvalId);
    this.shown = this.shown.filter((one) => one.approvalId !== approvalId);
    const uris = new Set(mine.map((one) => one.right.toString()));
    for (const { right } of mine) {
      const document = vscode.workspace.textDocuments.find(
        (one) => one.uri.toString() === right.toString(),
      );
      if (document?.isDirty) await document.save(); // else closing would ask what to do with it
    }
    const tabs = vscode.window.tabGroups.all
      .flatMap((group) => group.tabs)
      .filter(
        ({ input }) =>
          input instanceof vscode.TabInputTextDiff && uris.has(input.modified.toString()),
      );
    if (tabs.length) await vscode.window.tabGroups.close(tabs, true);
    for (const { left, right } of mine) {
      this.files.remove(right);
      if (left.scheme === SCHEME) this.files.remove(left);
    }
  }

  dispose(): void {
    for (const one of this.disposables) one.dispose();
  }
}

async function pick(files: ReviewFile[]): Promise<ReviewFile | undefined> {
  if (files.length <= 1) return files[0];
  const items = files.map((file) => ({ label: lastPart(file.uri), description: file.kind, file }));
  return (await vscode.window.showQuickPick(items, { title: "Which file do you want to review?" }))
    ?.file;
}

function activeDiff(): vscode.Uri | undefined {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  return input instanceof vscode.TabInputTextDiff ? input.modified : undefined;
}

function asOffsets(document: vscode.TextDocument) {
  return {
    getText: () => document.getText(),
    offsetAt: ({ line, character }: { line: number; character: number }) =>
      document.offsetAt(new vscode.Position(line, character)),
  };
}

/** A short name for a URI, so that two files of one name do not meet. */
function hash(text: string): string {
  let value = 5381;
  for (const character of text) value = ((value * 33) ^ character.codePointAt(0)!) >>> 0;
  return value.toString(36);
}
