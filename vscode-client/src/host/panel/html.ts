// The page of the panel: its policy lets nothing in but our own script, style and font.

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";

export function page(webview: vscode.Webview, extension: vscode.Uri): string {
  const at = (name: string): string =>
    webview.asWebviewUri(vscode.Uri.joinPath(extension, "dist", "panel", name)).toString();
  const nonce = randomBytes(16).toString("base64");
  const policy = [
    "default-src 'none'",
    `style-src ${webview.cspSource}`,
    `script-src 'nonce-${nonce}'`,
    `img-src ${webview.cspSource} data: blob:`,
    `font-src ${webview.cspSource}`,
    "connect-src 'none'",
    "form-action 'none'",
    "base-uri 'none'",
  ].join("; ");
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>Turnbuckle</title>
<link rel="stylesheet" href="${at("codicon.css")}">
<link rel="stylesheet" href="${at("panel.css")}">
</head>
<body>
<div id="root"></div>
<script nonce="${nonce}" src="${at("main.js")}"></script>
</body>
</html>`;
}
