import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import { afterAll, expect, test } from "vitest"

import { installHarness } from "./install-harnesses.ts"

const home = mkdtempSync(join(tmpdir(), "meridian-home-"))
afterAll(() => rmSync(home, { recursive: true, force: true }))

test.each([
  ["opencode", "1.18.33"],
  ["claude", "2.1.325"],
  ["codex", "0.166.0"],
  ["bun", "1.3.14"],
] as const)("%s is installed at version %s", (name, version) => {
  const { stdout } = spawnSync(installHarness(name), ["--version"], {
    encoding: "utf8",
    env: { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: home, CODEX_HOME: home },
    timeout: 60_000,
  })
  expect(stdout).toContain(version)
})
