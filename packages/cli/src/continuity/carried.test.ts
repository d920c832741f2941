import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { expect, onTestFinished, test } from "vitest"

import { carriedContinuity } from "./carried.ts"

test("a launch adds hooks for Claude Code, and names the harnesses it has none for", () => {
  const cwd = mkdtempSync(join(tmpdir(), "carried-"))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  const carried = (harness: string, env: Readonly<Record<string, string>> = {}) =>
    carriedContinuity({ harness, cwd, env: { HOME: cwd, ...env }, program: ["meridian"] })
  expect(carried("claude")?.settings).toContain("SessionStart")
  expect(carried("codex")?.missing).toContain("meridian init --codex")
  expect(carried("acp:gemini")?.missing).toContain("ACP")
  expect(carried("claude", { MERIDIAN_CONTINUITY: "off" })).toEqual({
    missing: "MERIDIAN_CONTINUITY is off",
  })
  expect(carried("direct", { MERIDIAN_CONTINUITY: "off" })).toBeUndefined()
})
