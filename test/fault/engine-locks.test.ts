/** Tools run in the process that has the database open. None of them may drop the locks that SQLite has on it. */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"

import { expect, test } from "vitest"

import { ALLOW_ALL, conversation, openEngineScene } from "../engine-scene.ts"

/** Opens the database and closes it. Whoever closes it last deletes its log. */
const comeAndGo = (file: string): void => {
  const script = `const { DatabaseSync } = require("node:sqlite")
    const database = new DatabaseSync(process.argv[1])
    database.prepare("select count(*) from event").get()
    database.close()`
  expect(spawnSync(process.execPath, ["-e", script, file]).status).toBe(0)
}

test("an agent that searches its engine's database leaves its log to it", async () => {
  await using scene = await openEngineScene(
    [
      { tools: [{ name: "grep", input: { path: "../engine.sqlite", pattern: "x" } }] },
      { tools: [{ name: "grep", input: { path: "../engine.sqlite-shm", pattern: "x" } }] },
      { tools: [{ name: "grep", input: { path: "..", pattern: "session.next" } }] },
      { text: "done" },
    ],
    { permissions: ALLOW_ALL },
  )
  const { file, engine, session } = scene
  await engine.sessions.prompt({ sessionID: session.id, prompt: { text: "look around" } })
  await engine.sessions.wait(session.id)
  const told = await conversation(engine)
  expect(told.at(-1)).toBe("assistant: done")
  comeAndGo(file)
  expect(existsSync(`${file}-wal`)).toBe(true)
  expect(JSON.stringify(await engine.sessions.messages({ sessionID: session.id }))).toContain(
    "belongs to a SQLite database in use",
  )
})
