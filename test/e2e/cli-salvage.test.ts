/** `meridian doctor` and a damaged engine database: reported, saved to a new file, never changed. */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

import { openEngine } from "@meridian/engine"
import { expect } from "vitest"

import { ALLOW_ALL, scriptedModel } from "../engine-scene.ts"
import { verifies } from "../verifies.ts"
import { document, emptyFolder, meridian } from "./cli-binary.ts"

const openScene = async () => {
  const cwd = emptyFolder()
  mkdirSync(join(cwd, ".meridian"))
  const file = join(cwd, ".meridian/engine.sqlite")
  const engine = await openEngine({ database: file, models: [scriptedModel([])], permissions: ALLOW_ALL })
  for (const name of ["one", "two"]) {
    const { id } = await engine.sessions.create({ location: { directory: cwd }, title: name })
    for (let turn = 0; turn < 20; turn += 1) {
      await engine.sessions.prompt({ sessionID: id, prompt: { text: `${name} ${"word ".repeat(300)}` } })
      await engine.sessions.wait(id)
    }
  }
  await engine.close()
  return { cwd, file, doctor: (...words: string[]) => meridian(["doctor", ...words, "--json"], { cwd }) }
}

const spoil = (file: string, page: number): void => {
  const descriptor = openSync(file, "r+")
  writeSync(descriptor, Buffer.alloc(4_096, 0xa5), 0, 4_096, (page - 1) * 4_096)
  closeSync(descriptor)
}

verifies("doctor.database", async () => {
  const { cwd, file, doctor } = await openScene()
  expect(await doctor()).toMatchObject({ code: 0 })
  spoil(file, Math.floor(statSync(file).size / 8_192))
  const before = readFileSync(file)
  const told = await doctor()
  expect(told.code).toBe(1)
  expect(document(told)).toMatchObject({ ok: false, findings: [{ id: "damaged_database", repaired: false }] })
  const saved = await doctor("--salvage", "saved.sqlite")
  expect(saved.code).toBe(0)
  expect(document(saved)).toMatchObject({
    salvaged: { from: file, file: join(cwd, "saved.sqlite"), sessions: 2 },
  })
  expect(readFileSync(file).equals(before)).toBe(true)
  expect(existsSync(`${file}-wal`)).toBe(false)
  // In place of the damaged one it is an ordinary database.
  rmSync(file)
  renameSync(join(cwd, "saved.sqlite"), file)
  expect(await doctor()).toMatchObject({ code: 0 })
  const listed = await meridian(["session", "list", "--json"], { cwd })
  expect(document(listed)).toMatchObject({ sessions: [{ title: "two" }, { title: "one" }] })
})

verifies(
  "doctor.database",
  async () => {
    const { file, doctor } = await openScene()
    const database = new DatabaseSync(file)
    database.exec("delete from event where id = (select max(id) - 3 from event)")
    database.close()
    expect((await doctor()).stdout).toMatch(/session ses_\S+ lacks 1 of its \d+ events/)
  },
  "a log with a hole, which SQLite does not mind",
)

verifies(
  "doctor.database",
  async () => {
    const { cwd, file, doctor } = await openScene()
    const twice = [await doctor("--salvage", "a"), await doctor("--salvage", "a")]
    expect(twice.map(({ code }) => code)).toEqual([0, 1])
    expect(twice[1]?.stderr).toContain("ERROR [EXPORT_FILE_EXISTS]")
    rmSync(file)
    expect((await doctor("--salvage", "b")).stderr).toContain("ERROR [ENGINE_DATABASE_NOT_FOUND]")
    expect(existsSync(join(cwd, "b"))).toBe(false)
  },
  "no file is overwritten, and none is made from nothing",
)
