import { defineConfig } from "vitest/config"

const shared = {
  resolve: { conditions: ["meridian-source"] },
  ssr: { resolve: { conditions: ["meridian-source"] } },
}

/**
 * Two projects by what a test touches: pure ones share one module graph (`isolate: false`, ten times faster);
 * those that start processes or change the environment get a worker of their own.
 */
export default defineConfig({
  test: {
    // Many tests wait for processes and clocks; one worker alone leaves the second core idle.
    maxWorkers: 2,
    projects: [
      {
        ...shared,
        test: {
          name: "module",
          globalSetup: "tools/temporary-folder.ts",
          isolate: false,
          include: [
            "{packages,tools}/**/*.test.ts",
            "test/{behaviour,contract,layout,pin,sim}/**/*.test.ts",
            "test/*.test.ts",
          ],
          exclude: ["**/node_modules/**", "**/dist/**"],
          testTimeout: 30_000,
        },
      },
      {
        ...shared,
        test: {
          name: "process",
          globalSetup: ["tools/temporary-folder.ts", "tools/shared-postgres.ts"],
          include: ["test/{attack,crash,e2e,fault,postgres}/**/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
})
