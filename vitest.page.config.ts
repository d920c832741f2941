import { defineConfig } from "vitest/config"

/** The page in a real browser (`tools/install-chromium.sh`). A command of its own: `npm test` needs only Node. */
export default defineConfig({
  resolve: { conditions: ["meridian-source"] },
  ssr: { resolve: { conditions: ["meridian-source"] } },
  test: {
    globalSetup: ["tools/temporary-folder.ts", "tools/shared-postgres.ts"],
    include: ["test/page/**/*.test.ts"],
    fileParallelism: false,
    testTimeout: 90_000,
    hookTimeout: 60_000,
  },
})
