import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/e2e/**/*.e2e.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    fileParallelism: false,
    // As long as the browser is waited for; without it a look that is repeated has one second.
    expect: { poll: { timeout: 20_000 } },
  },
});
