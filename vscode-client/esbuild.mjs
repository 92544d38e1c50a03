// Makes dist/: the extension for the extension host, and the panel for its webview.
import { copyFile, mkdir } from "node:fs/promises";
import * as esbuild from "esbuild";

const watch = process.argv.includes("--watch");
const common = { bundle: true, minify: !watch, sourcemap: watch, legalComments: "none", logLevel: "info" };

const builds = [
  {
    ...common,
    entryPoints: ["src/extension.ts"],
    outfile: "dist/extension.js",
    platform: "node",
    format: "cjs",
    target: "node20",
    external: ["vscode"],
  },
  {
    ...common,
    entryPoints: ["src/panel/main.tsx", "src/panel/panel.css"],
    outdir: "dist/panel",
    platform: "browser",
    format: "iife",
    target: "chrome130",
    loader: { ".ttf": "file" },
    jsx: "automatic",
    jsxImportSource: "preact",
  },
];

await mkdir("dist/panel", { recursive: true });
for (const name of ["codicon.css", "codicon.ttf"]) {
  await copyFile(`node_modules/@vscode/codicons/dist/${name}`, `dist/panel/${name}`);
}
for (const build of builds) {
  if (watch) await (await esbuild.context(build)).watch();
  else await esbuild.build(build);
}
