// The panel as it is built, on a page of its own in Chromium, with the policy that the editor sets.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { THEMES } from "./themes.mjs";

const built = fileURLToPath(new URL("../../dist/panel/", import.meta.url));
const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; font-src 'self'; " +
  "connect-src 'none'; form-action 'none'; base-uri 'none'";

export const SETTINGS = {
  sendKey: "enter",
  showThinking: "collapsed",
  trusted: true,
  folders: [{ name: "work", uri: "file:///work" }],
};

export function launch() {
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}

/** A page with the panel, which nothing was told yet; `post` says something as the host would. */
export async function open(
  browser,
  { width = 380, height = 900, theme = "dark", answers = {} } = {},
) {
  const { body, variables } = THEMES[theme];
  const page = await browser.newPage({ viewport: { width, height } });
  const faults = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  const style = Object.entries(variables)
    .map(([name, value]) => `--vscode-${name}:${value};`)
    .join("");
  const parts = {
    "": [
      "text/html",
      `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Panel</title>
<link rel="stylesheet" href="/theme.css"><link rel="stylesheet" href="/codicon.css">
<link rel="stylesheet" href="/panel.css"></head><body class="${body}"><div id="root"></div>
<script src="/host.js"></script><script src="/main.js"></script></body></html>`,
    ],
    "theme.css": ["text/css", `:root{${style}} body{background:var(--vscode-sideBar-background)}`],
    "host.js": [
      "text/javascript",
      `window.sent=[];const answers=${JSON.stringify(answers)};
function acquireVsCodeApi(){return{getState(){return JSON.parse(sessionStorage.kept||"null")??undefined},
setState(s){sessionStorage.kept=JSON.stringify(s)},
postMessage(m){sent.push(m);if(m.type==="call"&&m.method in answers)
window.postMessage({type:"answer",id:m.id,result:answers[m.method]},"*")}}}`,
    ],
  };
  await page.route("**/*", (route) => {
    const name = new URL(route.request().url()).pathname.slice(1);
    if (name in parts) {
      const [contentType, text] = parts[name];
      return route.fulfill({
        contentType,
        body: text,
        headers: { "content-security-policy": POLICY },
      });
    }
    return existsSync(built + name) ? route.fulfill({ path: built + name }) : route.abort();
  });
  await page.goto("http://panel.test/");
  const post = (...messages) =>
    page.evaluate((all) => {
      for (const one of all) window.postMessage(one, "*");
    }, messages);
  return { page, post, faults };
}

export function session(changes = {}) {
  const config = {
    model: "deepseek-chat",
    provider: "deepseek",
    window: 8000,
    price: { input: 0.5, output: 2, currency: "USD" },
  };
  return {
    type: "session",
    session: { sessionId: "s", seq: -1, from: 0, readOnly: false, config, ...changes },
  };
}

export function hello(changes = {}) {
  return {
    type: "hello",
    version: 1,
    settings: { ...SETTINGS, ...changes.settings },
    server: changes.server ?? { state: "running" },
  };
}

let batches = 0;
export function values(...list) {
  return { type: "values", sessionId: "s", batch: ++batches, values: list };
}
