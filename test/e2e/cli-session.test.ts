/** `meridian session`: what a compaction kept and dropped, from the command line. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { openEngine, type ScriptRequest } from "@meridian/engine"
import { expect, test } from "vitest"

import { meridian } from "./cli-binary.ts"

test("lists sessions, shows compactions and goes back to one", async () => {
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
