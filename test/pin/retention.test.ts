import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"

import { expect, test } from "vitest"

import type { Result } from "../../bench/retention/measure.ts"
import { SUMMARISER_NAMES } from "../../bench/retention/summarisers.ts"
import { renderBlock, RETENTION_END, RETENTION_START } from "../../bench/retention/table.ts"

const readResult = (text: string): Result => JSON.parse(text)

const pinned = readResult(readFileSync("bench/retention/result.json", "utf8"))

test("the published retention is what the measurement gives now", { timeout: 240_000 }, () => {
  const command = ["--conditions=meridian-source", "bench/retention/run.ts", "--json"]
  const measured = readResult(execFileSync(process.execPath, command, { encoding: "utf8" }))
  expect(measured).toEqual(pinned)
})

test("every declared fact is in every first request after a compaction, none is stale, within 1,000 tokens", () => {
  const cells = SUMMARISER_NAMES.map((name) => pinned["ours (pinned)"][name])
  expect(cells.length).toBe(7)
  for (const { declared, requestsWithPin, stale, unstable, briefTokens, addedTokens } of cells) {
    expect(declared.of).toBeGreaterThan(0)
    expect(declared.present).toBe(declared.of)
    expect(requestsWithPin.present).toBe(requestsWithPin.of)
    expect(stale).toBe(0)
    expect(unstable).toBe(0)
    expect(Math.max(briefTokens, addedTokens)).toBeLessThanOrEqual(1000)
  }
})

test("the published numbers are those of the result", () => {
  const page = existsSync("docs/measured.md") ? readFileSync("docs/measured.md", "utf8") : ""
  const expected = renderBlock(pinned)
  const start = page.indexOf(RETENTION_START)
  const shown =
    start === -1 ? expected : page.slice(start, page.indexOf(RETENTION_END) + RETENTION_END.length)
  expect(withoutPadding(shown)).toBe(withoutPadding(expected))
})

/** The formatter aligns tables and wraps nothing else. */
const withoutPadding = (text: string): string => text.replaceAll(/ {2,}/g, " ").replaceAll(/-{3,}/g, "---")
