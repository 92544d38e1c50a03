import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: {
    alias: { vscode: fileURLToPath(new URL("test/fakes/vscode.ts", import.meta.url)) },
  },
  test: { include: ["test/unit/**/*.test.ts", "test/webview/**/*.test.{ts,tsx}"], testTimeout: 10_000 },
});
