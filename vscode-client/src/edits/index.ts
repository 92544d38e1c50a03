// Edits in the editor: review in a diff, open hunks where the code stands, and their commands.

import * as vscode from "vscode";
import type { OpenApprovals } from "../host/approvals/follow";
import type { Server } from "../host/server/server";
import type { Watch } from "../host/watch";
import { ProposalFiles, SCHEME } from "./files";
import { Hunks } from "./hunks";
import { Reviews } from "./review";

export interface EditParts {
  server: Server;
  watch: Watch;
  approvals: OpenApprovals;
  log(text: string): void;
  /** Registers a command of ours by its short name, with its failures shown. */
  command(name: string, run: (...args: never[]) => unknown): vscode.Disposable;
}

export function registerEdits(parts: EditParts): {
  reviews: Reviews;
  disposables: vscode.Disposable[];
} {
  const { server, watch, approvals, log, command } = parts;
  const files = new ProposalFiles();
  const reviews = new Reviews(server, approvals, files);
  const hunks = new Hunks(server, watch, log);
  const disposables = [
    vscode.workspace.registerFileSystemProvider(SCHEME, files, { isCaseSensitive: true }),
    reviews,
    hunks,
    command("acceptEdit", (uri?: vscode.Uri) => reviews.accept(uri)),
    command("rejectEdit", (uri?: vscode.Uri) => reviews.reject(uri, false)),
    command("rejectEditWithNote", (uri?: vscode.Uri) => reviews.reject(uri, true)),
    command("nextHunk", () => hunks.step(true)),
    command("previousHunk", () => hunks.step(false)),
    command("acceptHunkAtCursor", () => hunks.resolve("accept")),
    command("rejectHunkAtCursor", () => hunks.resolve("reject")),
  ];
  return { reviews, disposables };
}
