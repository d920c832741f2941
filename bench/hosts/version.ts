/** The version that a real program reports. */
import { spawnSync } from "node:child_process"

import { installHarness, type Harness } from "../../test/live/install-harnesses.ts"

export const versionOf = (harness: Harness): string => {
  const { stdout } = spawnSync(installHarness(harness), ["--version"], { encoding: "utf8", timeout: 30_000 })
  return /\d[\d.]*/.exec(stdout)?.[0] ?? "unknown"
}
