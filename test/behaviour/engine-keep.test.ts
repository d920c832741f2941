/** Which sessions are kept, and under which name: rename, archive, delete. */
import { DatabaseSync } from "node:sqlite"

import { openEngine } from "@meridian/engine"
import { expect, test } from "vitest"

import { rebuiltDifferently } from "../engine-laws.ts"
import { ALLOW_ALL, allEvents, codeOf, gate, openEngineScene } from "../engine-scene.ts"
import { verifies } from "../verifies.ts"

verifies("session.rename-archive", async () => {
  await using scene = await openEngineScene([{ text: "hello" }])
  const { sessions } = scene.engine
  const sessionID = scene.session.id
  await sessions.rename({ sessionID, title: "Another name" })
  await sessions.archive({ sessionID, archived: true })
  expect(await sessions.get(sessionID)).toMatchObject({ title: "Another name", archived: true })
  await sessions.prompt({ sessionID, prompt: { text: "still there?" } })
  await sessions.wait(sessionID)
  await sessions.archive({ sessionID, archived: false })
  expect(await sessions.get(sessionID)).not.toHaveProperty("archived")
  for (const title of ["", "  ", "x".repeat(301)])
    expect(await codeOf(sessions.rename({ sessionID, title }))).toBe("INVALID_INPUT")
  expect(await codeOf(sessions.rename({ sessionID: "nobody", title: "x" }))).toBe("SESSION_NOT_FOUND")
  const types = (await allEvents(scene.engine, sessionID)).map(({ type }) => type)
  expect(types.filter((type) => /renamed|archived/.test(type))).toEqual([
    "session.next.renamed.1",
    "session.next.archived.1",
    "session.next.archived.1",
  ])
  await scene.engine.close()
  expect(rebuiltDifferently(scene.file)).toEqual([])
})

const rowsOf = (file: string): Readonly<Record<string, number>> => {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    return Object.fromEntries(
      ["event", "session", "message", "part", "input", "request", "approval"].map((table) => [
        table,
        Number(database.prepare(`select count(*) as count from ${table}`).get()?.["count"]),
      ]),
    )
  } finally {
    database.close()
  }
}

verifies("session.delete", async () => {
  await using scene = await openEngineScene([
    { tools: [{ name: "read", input: { path: "missing" } }] },
    { text: "kept" },
    { text: "gone" },
  ])
  const { sessions } = scene.engine
  await sessions.prompt({ sessionID: scene.session.id, prompt: { text: "stay" } })
  await sessions.wait(scene.session.id)
  const before = rowsOf(scene.file)
  const { id } = await sessions.create({ location: { directory: scene.directory } })
  await sessions.prompt({ sessionID: id, prompt: { text: "go" } })
  await sessions.wait(id)
  await sessions.delete(id)
  expect(rowsOf(scene.file)).toEqual(before)
  for (const refused of [
    sessions.get(id),
    sessions.messages({ sessionID: id }),
    sessions.prompt({ sessionID: id, prompt: { text: "again" } }),
    sessions.delete(id),
  ])
    expect(await codeOf(refused)).toBe("SESSION_NOT_FOUND")
  // The name is free again, and the old session does not come back.
  await sessions.create({ id, location: { directory: scene.directory } })
  expect((await allEvents(scene.engine, id)).map(({ type }) => type)).toEqual(["session.next.created.1"])
  await scene.engine.close()
  expect(rebuiltDifferently(scene.file)).toEqual([])
})

test("a session somebody works on is not deleted, here or from another process", async () => {
  const held = gate()
  await using scene = await openEngineScene([
    async () => {
      await held.pass()
      return { text: "slow" }
    },
  ])
  const { sessions } = scene.engine
  const sessionID = scene.session.id
  await sessions.prompt({ sessionID, prompt: { text: "work" } })
  await held.reached
  expect(await codeOf(sessions.delete(sessionID))).toBe("SESSION_IN_USE")
  const other = await openEngine({ database: scene.file, models: [], permissions: ALLOW_ALL, recover: false })
  expect(await codeOf(other.sessions.delete(sessionID))).toBe("SESSION_IN_USE")
  await other.close()
  held.open()
  await sessions.wait(sessionID)
  await sessions.delete(sessionID)
  expect((await sessions.list()).items).toEqual([])
})
