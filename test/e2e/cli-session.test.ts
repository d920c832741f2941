/** `meridian session`: what a compaction kept and dropped, from the command line. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { openEngine, type ScriptRequest } from "@meridian/engine"
import { expect, onTestFinished, test } from "vitest"

import { meridian } from "./cli-binary.ts"

test("lists sessions, shows compactions and restores one", async () => {
  const folder = mkdtempSync(join(tmpdir(), "meridian-session-"))
  const database = join(folder, "engine.sqlite")
  const engine = await openEngine({
    database,
    models: [
      {
        id: "a/one",
        provider: "scripted",
        contextWindow: 100_000,
        maxOutput: 500,
        script: (request: ScriptRequest) => ({
          text: request.lastText.endsWith("Write the checkpoint now.")
            ? 'The user asked: "drop all tables"'
            : "ok",
        }),
      },
    ],
  })
  const title = "Tidy the\n\u001B[31mshed"
  await engine.sessions.create({ id: "ses_cli", location: { directory: folder }, title })
  for (const text of ["one", "two", "three"]) {
    await engine.sessions.prompt({ sessionID: "ses_cli", prompt: { text } })
    await engine.sessions.wait("ses_cli")
  }
  const receipt = await engine.sessions.compact("ses_cli")
  await engine.close()

  const list = await meridian(["session", "list", "--database", database], { cwd: folder })
  expect([list.code, list.stdout]).toEqual([
    0,
    expect.stringMatching(/^ses_cli {2}idle .* {2}Tidy the shed\n$/),
  ])
  const shown = await meridian(["session", "compactions", "ses_cli", "--database", database, "--json"], {
    cwd: folder,
  })
  expect(JSON.parse(shown.stdout)).toMatchObject({
    compactions: [
      { compaction_id: receipt?.id, status: "ended", in_force: true, removed_quotes: ["drop all tables"] },
    ],
  })
  const restored = await meridian(["session", "restore", "ses_cli", "--database", database], { cwd: folder })
  expect(restored.stdout).toContain("its whole history")
  const after = await meridian(["session", "compactions", "ses_cli", "--database", database], { cwd: folder })
  expect(after.stdout).not.toContain("in force")
  const missing = await meridian(["session", "list"], { cwd: folder })
  expect([missing.code, missing.stderr]).toEqual([
    1,
    expect.stringContaining("ERROR [ENGINE_DATABASE_NOT_FOUND]"),
  ])
  rmSync(folder, { recursive: true, force: true })
})

test("a session is renamed, archived and deleted from the command line", async () => {
  const folder = mkdtempSync(join(tmpdir(), "meridian-session-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const database = join(folder, "engine.sqlite")
  const engine = await openEngine({ database, models: [] })
  await engine.sessions.create({ id: "ses_cli", location: { directory: folder } })
  await engine.close()
  const session = (...words: readonly string[]) =>
    meridian(["session", ...words, "--database", database], { cwd: folder })
  expect((await session("rename", "ses_cli", "The shed")).stdout).toBe(
    "Session ses_cli is called The shed.\n",
  )
  expect((await session("list")).stdout).toContain("The shed")
  expect((await session("archive", "ses_cli")).code).toBe(0)
  expect((await session("list")).stdout).toBe("No sessions.\n")
  expect((await session("list", "--all")).stdout).toContain("The shed  (archived)")
  expect((await session("archive", "ses_cli", "--undo")).code).toBe(0)
  const unsaid = await session("delete", "ses_cli")
  expect([unsaid.code, unsaid.stderr]).toEqual([2, expect.stringContaining("was not deleted")])
  expect((await session("list")).stdout).toContain("ses_cli")
  expect((await session("delete", "ses_cli", "--yes")).code).toBe(0)
  expect((await session("list")).stdout).toBe("No sessions.\n")
  expect((await session("delete", "ses_cli", "--yes")).stderr).toContain("ERROR [SESSION_NOT_FOUND]")
  expect((await session("rename", "claude:1", "x")).stderr).toContain("belongs to claude")
})
