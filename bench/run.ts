/**
 * Runs all benchmarks one after the other. Each prints ratios measured in its own run. Arguments are passed on (`--quick`).
 */
import { spawnSync } from "node:child_process"

const BENCHES = [
  "engine",
  "postgres",
  "compaction",
  "cli",
  "retention",
  "brief",
  "server",
  "acp",
  "telemetry",
  "days",
  "hands",
  "undo",
] as const

for (const bench of BENCHES) {
  process.stdout.write(`\n== ${bench}\n`)
  const { status } = spawnSync(
    process.execPath,
    ["--expose-gc", "--conditions=meridian-source", `bench/${bench}/run.ts`, ...process.argv.slice(2)],
    { stdio: "inherit" },
  )
  if (status !== 0) process.exitCode = 1
}
