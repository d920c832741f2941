import { defineConfig } from "vitest/config"

/**
 * The real CLIs from npm against the scripted provider on loopback. Slow, so a command of its own. A test that fails is tried
 * once more, here and nowhere else: these programs are not ours, and what they do in a bad moment we cannot mend. The report
 * names what needed its second try.
 */
export default defineConfig({
  resolve: { conditions: ["meridian-source"] },
  ssr: { resolve: { conditions: ["meridian-source"] } },
  test: {
    globalSetup: "tools/temporary-folder.ts",
    include: ["test/live/**/*.test.ts"],
    fileParallelism: false,
    retry: 1,
    testTimeout: 180_000,
    hookTimeout: 300_000,
  },
})
