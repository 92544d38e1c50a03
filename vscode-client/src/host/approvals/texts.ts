// The whole text of a question, as a document that cannot be edited and need not be saved.

import * as vscode from "vscode";

export const SCHEME = "turnbuckle-question";

export class QuestionTexts implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly registered = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.path) ?? "This question is shown no longer.";
  }

  async show(approvalId: string, text: string): Promise<void> {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${approvalId}/Question.md` });
    this.texts.set(uri.path, text);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { preview: true, preserveFocus: true });
  }

  dispose(): void {
    this.registered.dispose();
  }
}
