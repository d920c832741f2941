/** Runs every static check, one after the other. All of them run; the exit code says whether any failed. */
import { spawnSync } from "node:child_process"

import { findCircles, findViolations, readSources } from "./architecture.ts"

const COMMANDS: readonly (readonly [name: string, ...command: readonly string[]])[] = [
  ["format", "oxfmt", "--check", "."],
  ["lint", "oxlint", "--type-aware"],
  // Benchmarks, examples and the demo import the bundle as a user would. They need its types, but not its code.
  ["declarations", "node", "tools/declarations.ts"],
  ["types", "tsc", "-p", "tsconfig.json"],
  ["types of the page", "tsc", "-p", "packages/web/tsconfig.json"],
  ["purity", "tsc", "-p", "tsconfig.pure.json"],
  // Not --strict: bundled code is a development dependency, so that users of the bundle do not install it again.
  ["dead code", "knip", "--production"],
  ["floating effects", "effect-tsgo", "diagnostics", "--project", "tsconfig.json"],
]

const failed: string[] = []
for (const [name, command = "", ...rest] of COMMANDS) {
  const started = performance.now()
  const { status, stdout, stderr } = spawnSync(command, rest, { encoding: "utf8" })
  const ok = status === 0
  process.stdout.write(`${ok ? "ok  " : "FAIL"} ${name} (${Math.round(performance.now() - started)} ms)\n`)
  if (ok) continue
  failed.push(name)
  process.stdout.write(`${stdout ?? ""}${stderr ?? ""}\n`)
}

const sources = readSources(process.cwd())
for (const [name, problems] of [
  ["import direction", findViolations(sources)],
  ["import circles", findCircles(sources)],
] as const) {
  process.stdout.write(`${problems.length === 0 ? "ok  " : "FAIL"} ${name}\n`)
  if (problems.length === 0) continue
  failed.push(name)
  process.stdout.write(`${problems.join("\n")}\n`)
}

if (failed.length > 0) {
  process.stdout.write(`\nfailed: ${failed.join(", ")}\n`)
  process.exitCode = 1
}
