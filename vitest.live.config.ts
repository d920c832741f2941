import { defineConfig } from "vitest/config"

/** The real CLIs from npm against the scripted provider on loopback. Slow, so a command of its own. */
export default defineConfig({
  resolve: { conditions: ["meridian-source"] },
  ssr: { resolve: { conditions: ["meridian-source"] } },
  test: {
    globalSetup: "tools/temporary-folder.ts",
    include: ["test/live/**/*.test.ts"],
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 300_000,
  },
})
