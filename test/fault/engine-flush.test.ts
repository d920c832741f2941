/** A disk that loses what was written: nothing is acknowledged on it until its log is sound again. */
import { mkdirSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

import type { Engine, EngineOptions } from "@meridian/engine"
import { Effect, Exit } from "effect"
import { describe, expect, test } from "vitest"

import { openEngineWith } from "../../packages/engine/src/open-engine.ts"
import { openDatabase } from "../../packages/engine/src/store/sqlite/database.ts"
import { brokenLaws } from "../engine-laws.ts"
import {
  ALLOW_ALL,
  allEvents,
  codeOf,
  conversation,
  makeDirectory,
  scriptedModel,
  tool,
} from "../engine-scene.ts"
import { openFillableDisk } from "../fillable-disk.ts"
import { verifies } from "../verifies.ts"

const sessionID = "ses_test"
const prompt = { id: "msg_1", sessionID, prompt: { text: "go" } }

const openFailing = async () => {
  const base = makeDirectory()
  const directory = join(base, "project")
  const database = join(base, "engine.sqlite")
  mkdirSync(directory)
  let failing = false
  let ran = 0
  const options: EngineOptions = {
    database,
    models: [scriptedModel([{ tools: [{ name: "act" }] }])],
    permissions: ALLOW_ALL,
    tools: [tool("act", () => (ran += 1))],
  }
  const engine = await openEngineWith(options, {
    sqlite: {
      tap: (point) => {
        if (failing && point === "flush") throw Object.assign(new Error("i/o error"), { code: "EIO" })
      },
    },
  })
  await engine.sessions.create({ id: sessionID, location: { directory } })
  return {
    engine,
    database,
    ran: () => ran,
    fail: (wanted: boolean) => {
      failing = wanted
    },
    logBytes: () => statSync(`${database}-wal`).size,
    [Symbol.asyncDispose]: async () => {
      await engine.close()
      rmSync(base, { recursive: true, force: true })
    },
  }
}

describe("a flush that failed once", () => {
  verifies(
    "durable.failed-flush",
    async () => {
      await using scene = await openFailing()
      const quiet = { ...prompt, resume: false }
      scene.fail(true)
      expect(await codeOf(scene.engine.sessions.prompt(quiet))).toBe("DATABASE_UNWRITABLE")
      expect(await codeOf(scene.engine.sessions.prompt(quiet))).toBe("DATABASE_UNWRITABLE")
      scene.fail(false)
      expect(scene.logBytes()).toBeGreaterThan(0)
      expect((await scene.engine.sessions.prompt(quiet)).admittedSeq).toBe(2)
      expect(scene.logBytes()).toBe(0)
      await scene.engine.sessions.run(sessionID)
      expect((await conversation(scene.engine))[0]).toBe("user: go")
    },
    "no prompt; the same one again gets its receipt",
  )

  test("confirms no new session and no change of one", async () => {
    await using scene = await openFailing()
    const { sessions } = scene.engine
    const location = { directory: join(scene.database, "..", "project") }
    scene.fail(true)
    const requests = [
      sessions.create({ id: "ses_new", location }),
      sessions.rename({ sessionID, title: "new" }),
      sessions.archive({ sessionID, archived: true }),
      sessions.switchAgent({ sessionID, agent: "plan" }),
      sessions.move({ sessionID, location }),
    ]
    expect(await Promise.all(requests.map((request) => codeOf(request)))).toEqual(
      requests.map(() => "DATABASE_UNWRITABLE"),
    )
    scene.fail(false)
    await sessions.rename({ sessionID, title: "newer" })
    expect((await sessions.get(sessionID)).title).toBe("newer")
  })

  test("refuses every receipt while the log cannot be emptied, however well the disk flushes", async () => {
    await using scene = await openFailing()
    scene.fail(true)
    expect(await codeOf(scene.engine.sessions.prompt({ ...prompt, resume: false }))).toBe(
      "DATABASE_UNWRITABLE",
    )
    scene.fail(false)
    const reader = new DatabaseSync(scene.database)
    reader.exec("begin; select count(*) from event")
    for (const id of ["msg_1", "msg_2"])
      expect(await codeOf(scene.engine.sessions.prompt({ ...prompt, id, resume: false }))).toBe(
        "DATABASE_UNWRITABLE",
      )
    reader.exec("rollback")
    reader.close()
    for (const id of ["msg_1", "msg_2"])
      expect((await scene.engine.sessions.prompt({ ...prompt, id, resume: false })).id).toBe(id)
  })

  test("starts no tool whose record is not safe", async () => {
    await using scene = await openFailing()
    await scene.engine.sessions.prompt({ sessionID, prompt: { text: "go" }, resume: false })
    scene.fail(true)
    await scene.engine.sessions.run(sessionID)
    expect(scene.ran()).toBe(0)
    expect(await conversation(scene.engine)).toEqual(["user: go", "act: error", "assistant: done"])
    expect(brokenLaws(await allEvents(scene.engine))).toEqual([])
  })
})

test("while a flush has failed, SQLite moves nothing from the log into the database", async () => {
  const base = makeDirectory()
  const file = join(base, "engine.sqlite")
  const how = { fails: true }
  const { raw, transact, flush, close } = openDatabase({
    file,
    tap: (point) => {
      if (how.fails && point === "flush") throw Object.assign(new Error("i/o error"), { code: "EIO" })
    },
  })
  const write = (): void => {
    for (let row = 0; row < 800; row += 1)
      transact(() => raw.prepare("insert into lease (fence, owner) values (1, ?)").run("x".repeat(3_000)))
  }
  const bytes = statSync(file).size
  transact(() => undefined)
  expect(Exit.isFailure(await Effect.runPromiseExit(flush(true)))).toBe(true)
  write()
  expect(statSync(file).size).toBe(bytes)
  how.fails = false
  await Effect.runPromise(flush(true))
  expect(statSync(`${file}-wal`).size).toBe(0)
  const whole = statSync(file).size
  write()
  expect(statSync(file).size).toBeGreaterThan(whole)
  close()
  rmSync(base, { recursive: true })
})

describe("a disk that was full for a moment", () => {
  test("loses nothing of what was acknowledged afterwards when the power fails", async () => {
    using disk = openFillableDisk()
    const acknowledged: string[] = []
    await using engine = closing(
      await openEngineWith(
        { database: join(disk.folder, "engine.sqlite"), models: [scriptedModel([])], permissions: ALLOW_ALL },
        { sqlite: disk.sqlite },
      ),
    )
    await engine.sessions.create({ id: sessionID, location: { directory: disk.folder } })
    const send = async (id: string): Promise<string> => {
      const text = `${id} `.repeat(60_000)
      const code = await codeOf(engine.sessions.prompt({ id, sessionID, prompt: { text }, resume: false }))
      if (code === "no failure") acknowledged.push(id)
      return code
    }
    expect(await send("msg_before")).toBe("no failure")
    disk.fill()
    let sent = 0
    // The file system may still have some free space.
    while ((await send(`msg_full_${(sent += 1)}`)) !== "DATABASE_UNWRITABLE") expect(sent).toBeLessThan(40)
    disk.makeRoom()
    // What the file system could not write earlier may fail once more.
    while ((await send(`msg_again_${(sent += 1)}`)) !== "no failure") expect(sent).toBeLessThan(80)
    for (let number = 1; number <= 5; number += 1) expect(await send(`msg_${number}`)).toBe("no failure")
    using found = disk.afterPowerCut()
    const raw = new DatabaseSync(join(found.folder, "engine.sqlite"))
    const kept = new Set(
      raw
        .prepare("select id from input")
        .all()
        .map((row) => String(row["id"])),
    )
    raw.close()
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([])
    expect(acknowledged.length).toBeGreaterThanOrEqual(6)
  })
})

const closing = (engine: Engine): Engine & AsyncDisposable => ({
  ...engine,
  [Symbol.asyncDispose]: () => engine.close(),
})
