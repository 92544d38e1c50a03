// What goes on in all sessions of this window, for badge, status bar and lists.

import * as vscode from "vscode";
import type { Value } from "../shared/messages";
import type { Server } from "./server/server";

export interface Watched {
  sessionId: string;
  title?: string;
  state: "idle" | "running" | "waiting";
  approvals: number;
  hunks: number;
}

/** Follows `turnbuckle/watch`; asks anew whenever the server came back. */
export class Watch implements vscode.Disposable {
  private readonly sessions = new Map<string, Watched>();
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly reviews = new vscode.EventEmitter<string>();
  private readonly disposables: vscode.Disposable[];
  readonly onChanged = this.changed.event;
  /** The URI of a file whose open hunks changed. */
  readonly onReview = this.reviews.event;

  constructor(server: Server, log: (text: string) => void) {
    const token = `watch-${process.pid}`;
    this.disposables = [
      server.onValues(token, (value) => this.take(value as unknown as Note | Value)),
      server.onRunning(() => {
        this.sessions.clear();
        this.changed.fire();
        server.request("turnbuckle/watch", { token }).catch((error: unknown) => log(String(error)));
      }),
    ];
  }

  get all(): Watched[] {
    return [...this.sessions.values()];
  }

  get approvals(): number {
    return this.all.reduce((count, one) => count + one.approvals, 0);
  }

  private take(value: Note | Value): void {
    if (value.type === "review/changed") {
      this.reviews.fire(value.data.uri);
    } else if (value.type === "session/changed") {
      if (value.data.state === "closed") this.sessions.delete(value.data.sessionId);
      else this.sessions.set(value.data.sessionId, value.data as Watched);
      this.changed.fire();
    }
  }

  dispose(): void {
    for (const one of this.disposables) one.dispose();
    this.changed.dispose();
    this.reviews.dispose();
  }
}

type Note =
  | { type: "review/changed"; data: { uri: string } }
  | {
      type: "session/changed";
      data: Omit<Watched, "state"> & { state: Watched["state"] | "closed" };
    };
