// Where a question meets the person while the panel is hidden: badge, status bar, one notification.

import * as vscode from "vscode";
import type { ApproveParams } from "../../wire/types";
import type { PanelProvider } from "../panel/provider";
import type { Server } from "../server/server";
import { OpenApprovals, type Open } from "./follow";
import type { QuestionTexts } from "./texts";
import { headline, isPlain, whole } from "../../session/words";

export type Notifications = "off" | "whenHidden" | "always";

const ALLOW = "Allow once";
const ALLOW_SESSION = "Allow for this session";
const REJECT = "Reject";
const NOTE = "Reject with a note…";
const SHOW = "Show…";
const OPEN_PANEL = "Open the chat";

export class Router implements vscode.Disposable {
  private readonly disposables: vscode.Disposable[] = [];
  private readonly notified = new Set<string>();
  /** Those whose whole text was shown, and may be allowed although no line tells all of it. */
  private readonly shown = new Set<string>();

  constructor(
    private readonly server: Server,
    private readonly approvals: OpenApprovals,
    private readonly panel: PanelProvider,
    private readonly notifications: () => Notifications,
    private readonly review: (approvalId: string) => Promise<void>,
    private readonly texts: Pick<QuestionTexts, "show">,
  ) {
    this.disposables.push(
      approvals.onChanged(() => this.tell()),
      panel.onChanged(() => this.tell()),
    );
  }

  private tell(): void {
    const { open } = this.approvals;
    const value = open.length;
    const tooltip = value === 1 ? "1 question waits for you" : `${value} questions wait for you`;
    this.panel.badge = value ? { value, tooltip } : undefined;
    const mode = this.notifications();
    if (mode === "off" || (mode === "whenHidden" && this.panel.visible)) return;
    const news = open.filter(({ approval }) => !this.notified.has(approval.approvalId));
    for (const { approval } of news) this.notified.add(approval.approvalId);
    if (news.length) void this.notify(news[0]!);
  }

  /** One notification, that answers nothing by itself: it only leads to the choices. */
  private async notify({ approval }: Open): Promise<void> {
    const text = `Turnbuckle asks: ${headline(approval)}`;
    const choice = await vscode.window.showInformationMessage(text, "Review…", OPEN_PANEL);
    if (choice === "Review…") await this.pick(approval.approvalId);
    if (choice === OPEN_PANEL) await this.panel.with((bridge) => bridge.focus(), true);
  }

  /** Let the person choose about one open question, or about the one that they pick. */
  async pick(approvalId?: string): Promise<void> {
    const found = approvalId === undefined ? await this.pickOne() : this.approvals.find(approvalId);
    if (!found) {
      if (approvalId !== undefined) this.settled();
      return;
    }
    const { approval } = found;
    const choice = await vscode.window.showQuickPick(this.choices(found), {
      title: headline(approval),
      placeHolder: approval.subject.reason || "Nothing is done before you choose",
      ignoreFocusOut: true,
    });
    if (choice) await this.act(found, choice);
  }

  private choices({ approval }: Open): string[] {
    if (approval.subject.kind === "question")
      return [...approval.subject.choices, "Answer…", REJECT];
    const readable = isPlain(approval) || this.shown.has(approval.approvalId);
    const allows = readable
      ? [ALLOW, ...(approval.choices.includes("allowForSession") ? [ALLOW_SESSION] : [])]
      : [];
    return [SHOW, ...allows, REJECT, NOTE];
  }

  private async act({ approval }: Open, choice: string): Promise<void> {
    const { approvalId, subject } = approval;
    if (choice === SHOW) {
      await this.show(approvalId);
    } else if (choice === ALLOW) {
      await this.answer({ approvalId, decision: "allow" });
    } else if (choice === ALLOW_SESSION) {
      await this.answer({ approvalId, decision: "allow", remember: "session" });
    } else if (choice === REJECT) {
      await this.answer({ approvalId, decision: "reject" });
    } else if (choice === NOTE) {
      const note = await vscode.window.showInputBox({ title: "Why not?", ignoreFocusOut: true });
      if (note !== undefined) await this.answer({ approvalId, decision: "reject", note });
    } else if (subject.kind === "question") {
      const answer = subject.choices.includes(choice)
        ? choice
        : await vscode.window.showInputBox({ title: subject.question, ignoreFocusOut: true });
      if (answer !== undefined) await this.answer({ approvalId, answer });
    }
  }

  /** Show all of it, then ask again. */
  private async show(approvalId: string): Promise<void> {
    const found = this.approvals.find(approvalId);
    if (!found) return this.settled();
    this.shown.add(approvalId);
    if (found.approval.subject.kind === "change") {
      await this.review(approvalId);
      return;
    }
    await this.texts.show(approvalId, whole(found.approval));
    await this.pick(approvalId);
  }

  private async pickOne(): Promise<Open | undefined> {
    const { open } = this.approvals;
    if (open.length <= 1) {
      if (!open.length)
        void vscode.window.showInformationMessage("Turnbuckle: no question is open.");
      return open[0];
    }
    const items = open.map((one) => ({ label: headline(one.approval), one }));
    return (await vscode.window.showQuickPick(items, { title: "What do you want to answer?" }))
      ?.one;
  }

  private async answer(params: ApproveParams): Promise<void> {
    const { accepted } = await this.server.request("turnbuckle/approve", params);
    if (!accepted) this.settled();
  }

  private settled(): void {
    void vscode.window.setStatusBarMessage("Turnbuckle: that question is settled already", 5000);
  }

  dispose(): void {
    for (const one of this.disposables) one.dispose();
  }
}
