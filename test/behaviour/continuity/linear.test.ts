/**
 * Twice the input, twice the steps. V8 counts the steps (see `count-steps.entry.ts`), so the result does not depend on the
 * machine. Regular expressions are not counted that way; they get inputs of one huge line, for which a quadratic one would
 * need minutes.
 */
import { execFileSync } from "node:child_process"
import { join } from "node:path"

import { readBrief, sanitizeLine } from "@meridian/continuity"
import { expect, test } from "vitest"

import { briefOf, inTree } from "./tree.ts"

test("twice the input takes at most twice the steps", () => {
  const entry = join(import.meta.dirname, "count-steps.entry.ts")
  const flags = ["--no-opt", "--no-maglev", "--no-sparkplug", "--conditions=meridian-source"]
  const counted: unknown = JSON.parse(execFileSync(process.execPath, [...flags, entry], { encoding: "utf8" }))
  const growth = Object.entries(counted ?? {}).map(([name, steps]: [string, readonly number[]]) => {
    const [once = 0, twice = 0] = steps
    return { name, counted: once > 500, linear: twice < 2.2 * once }
  })
  expect(growth.length).toBe(10)
  expect(growth.filter(({ counted: enough, linear }) => !enough || !linear)).toEqual([])
})

const PUMPS = [
  " ", "\t", "-", "*", "_", "#", "`", "[", "(", "<", "~", ".", ":", "—", "|", ">", "a", "1", "1.", "- ", "**", "* [ ] ",
  "not ", "not blocked", "un blocked ", "none ", "none, ", "approval ", "awaiting ", "approved ", "decision ", "[Focus:",
  "[Focus: a] ", "<!--", "<!-- -->", "<system ", "(superseded ", "spec-create ", "then bug-fix ", "/spec-execute next ",
  ".codex/specs/", ".codex/bugs/a ", "Open Work: ", "**Open Work", "Batch 1 ", "2026-01-01 ", "\u202e", "\ufeff", "😀",
] // oxfmt-ignore

test.each(PUMPS)("a file that repeats %j is read in one pass", async (pump) => {
  const line = pump.repeat(Math.ceil(60_000 / pump.length))
  const lines = `${pump}\n`.repeat(Math.ceil(60_000 / (pump.length + 1)))
  const wide = { limits: { lineLength: 1_000_000, fileLines: 1_000_000 }, clock: () => 0 }
  for (const content of [line, lines, `- ${line}`, `## ${line}`])
    await inTree(
      {
        "SESSION.md": content,
        "AGENTS.md": content,
        ".codex/specs/a/tasks.md": `- [x] a\n${content}`,
        ".codex/specs/a/context.md": content,
        ".codex/bugs/a/report.md": content,
        ".codex/bugs/a/harness/progress.md": content,
      },
      async (root) => expect((await readBrief({ root, ...wide })).text).toContain("## Primary Objective\n- "),
    )
  expect(sanitizeLine(line).length).toBeLessThanOrEqual(300)
})

test("an input without end gives a brief within its budget", async () => {
  const { text } = await briefOf({
    "SESSION.md": `[Focus: a]\n${"- Blockers: x\n- Decision: y\n".repeat(9000)}`,
  })
  expect(text.length).toBeLessThan(4000)
})
