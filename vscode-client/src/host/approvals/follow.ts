// The open approvals of every session that has one, from the sessions' own facts.

import * as vscode from "vscode";
import { Reducer } from "../../session/reduce";
import type { Approval } from "../../session/state";
import type { Server } from "../server/server";
import type { Watch } from "../watch";

export interface Open {
  sessionId: string;
  approval: Approval;
}

/**
 * Subscribes to the facts of each session that waits for the person, and to no others. A question
 * that was shown and is open no longer is gone from `open` at once, whoever answered it.
 */
export class OpenApprovals implements vscode.Disposable {
  private readonly followed = new Map<string, { reducer: Reducer; stop: () => void }>();
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly disposables: vscode.Disposable[];
  private counter = 0;
  readonly onChanged = this.changed.event;

  constructor(
    private readonly server: Server,
    private readonly watch: Watch,
    private readonly log: (text: string) => void,
  ) {
    this.disposables = [
      watch.onChanged(() => this.follow()),
      server.onRunning(() => {
        for (const { stop } of this.followed.values()) stop();
        this.followed.clear();
        this.changed.fire();
      }),
    ];
  }

  /** All that wait, oldest first in each session. */
  get open(): Open[] {
    return [...this.followed].flatMap(([sessionId, { reducer }]) =>
      reducer.state.open.map((approval) => ({ sessionId, approval })),
    );
  }

  find(approvalId: string): Open | undefined {
    return this.open.find((one) => one.approval.approvalId === approvalId);
  }

  private follow(): void {
    const waiting = new Set(
      this.watch.all.filter((one) => one.approvals).map((one) => one.sessionId),
    );
    for (const [sessionId, { stop }] of this.followed) {
      if (waiting.has(sessionId)) continue;
      stop();
      this.followed.delete(sessionId);
      this.changed.fire();
    }
    for (const sessionId of waiting) {
      if (!this.followed.has(sessionId)) this.subscribe(sessionId);
    }
  }

  private subscribe(sessionId: string): void {
    const token = `approvals-${process.pid}-${++this.counter}`;
    const reducer = new Reducer();
    const values = this.server.onValues(token, (value) => {
      reducer.apply(value);
      if (value.type === "live" || value.type.startsWith("approval/")) this.changed.fire();
    });
    const stop = (): void => {
      values.dispose();
      if (this.server.state.state !== "running") return;
      this.server.request("turnbuckle/session/events/stop", { token }).catch(() => undefined);
    };
    this.followed.set(sessionId, { reducer, stop });
    this.server
      .request("turnbuckle/session/events", { sessionId, token, turns: 1 })
      .catch((error: unknown) => this.log(`approvals of ${sessionId}: ${String(error)}`));
  }

  dispose(): void {
    for (const { stop } of this.followed.values()) stop();
    for (const one of this.disposables) one.dispose();
    this.changed.dispose();
  }
}
