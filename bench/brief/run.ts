/**
 * The time of `readBrief` on a normal project, as a ratio to reading the same files with plain calls in the same run. The
 * two alternate (ABAB) and medians are compared, because absolute times depend on the machine.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

import { readBrief } from "@meridian/continuity"

import { benchTranscript } from "./transcript.ts"

const SPEC = ".codex/specs/012-search"
const FILES: Readonly<Record<string, string>> = {
  "SESSION.md": Array.from(
    { length: 30 },
    (_, day) =>
      `[Focus: 012-search] 2026-03-${String(31 - day).padStart(2, "0")}\n- did one thing\n- Decision: keep it\n`,
  ).join("\n"),
  "AGENTS.md": "# Working here\n\n- run the tests\n".repeat(20),
  [`${SPEC}/requirements.md`]: "# Requirements\n\n- it works\n".repeat(40),
  [`${SPEC}/design.md`]: "# Design\n\nText.\n".repeat(40),
  [`${SPEC}/tasks.md`]: Array.from(
    { length: 60 },
    (_, index) => `- [${index < 20 ? "x" : " "}] ${index}. task\n`,
  ).join(""),
  [`${SPEC}/context.md`]: "## Decisions Made\n- one\n- two\n\n## Key Discoveries\n- three\n",
}
const REPEATS = 400

const median = (times: readonly number[]): number =>
  times.toSorted((left, right) => left - right)[times.length >> 1] ?? 0

const root = mkdtempSync(join(tmpdir(), "brief-"))
try {
  for (const [path, content] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  const plain: number[] = []
  const ours: number[] = []
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    const start = performance.now()
    readdirSync(join(root, ".codex/specs"))
    for (const path of Object.keys(FILES)) readFileSync(join(root, path), "utf8")
    const middle = performance.now()
    await readBrief({ root })
    plain.push(middle - start)
    ours.push(performance.now() - middle)
  }
  const warm = REPEATS / 4
  const [floor, brief] = [median(plain.slice(warm)), median(ours.slice(warm))]
  process.stdout.write(
    `brief: ${brief.toFixed(2)} ms, ${(brief / floor).toFixed(1)} x reading its ${Object.keys(FILES).length} files (${floor.toFixed(2)} ms)\n`,
  )
} finally {
  rmSync(root, { recursive: true, force: true })
}

process.stdout.write(`${benchTranscript(process.argv.includes("--quick") ? 20 : 100)}\n`)
