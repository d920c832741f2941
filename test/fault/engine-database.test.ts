/** Databases that cannot be used: each gets a clear code, and not one of its bytes changes. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

import { openEngine, type EngineOptions } from "@meridian/engine"
import { Failure } from "@meridian/protocol"
import { describe, expect, test } from "vitest"

import { openEngineWith } from "../../packages/engine/src/open-engine.ts"
import { brokenLaws, integrityOf } from "../engine-laws.ts"
import {
  ALLOW_ALL,
  allEvents,
  codeOf,
  conversation,
  eventTypes,
  makeDirectory,
  openEngineScene,
  scriptedModel,
  tool,
} from "../engine-scene.ts"

const sessionID = "ses_test"

const openPlace = () => {
  const base = makeDirectory()
  const directory = join(base, "project")
  mkdirSync(directory)
  const database = join(base, "engine.sqlite")
  const options: EngineOptions = { database, models: [scriptedModel([])], permissions: ALLOW_ALL }
  return {
    base,
    database,
    directory,
    options,
    files: () => readdirSync(base).toSorted(),
    [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }),
  }
}

/** A database with one finished conversation, closed. */
const makeDatabase = async (options: EngineOptions, directory: string): Promise<void> => {
  const engine = await openEngine(options)
  await engine.sessions.create({ id: sessionID, location: { directory } })
  await engine.sessions.prompt({ sessionID, prompt: { text: "hello" } })
  await engine.sessions.wait(sessionID)
  await engine.close()
}

describe("a database that is not ours to touch", () => {
  test("is refused when a newer Meridian wrote it", async () => {
    using place = openPlace()
    await makeDatabase(place.options, place.directory)
    const raw = new DatabaseSync(place.database)
    raw.exec("pragma user_version = 4711")
    raw.close()
    const before = readFileSync(place.database)
    const files = place.files()
    expect(await codeOf(openEngine(place.options))).toBe("DATABASE_NEWER")
    expect(readFileSync(place.database).equals(before)).toBe(true)
    expect(place.files()).toEqual(files)
  })

  test("is refused when it is something else", async () => {
    using place = openPlace()
    for (const content of ["hello, I am a text", "SQLite format 3\0 but not really", "x".repeat(10_000)]) {
      writeFileSync(place.database, content)
      const files = place.files()
      expect(await codeOf(openEngine(place.options))).toBe("DATABASE_DAMAGED")
      expect(readFileSync(place.database, "utf8")).toBe(content)
      expect(place.files()).toEqual(files)
    }
  })

  test("a file that lags behind its log is whole, one that was cut short is not", async () => {
    using place = openPlace()
    await makeDatabase(place.options, place.directory)
    const copy = join(place.base, "copy.sqlite")
    const raw = new DatabaseSync(place.database)
    raw.exec("pragma wal_autocheckpoint = 0; create table more (x text)")
    for (let row = 0; row < 50; row += 1) raw.prepare("insert into more values (?)").run("y".repeat(4_000))
    // What a process leaves that dies during a checkpoint: page 1 is written, the pages after it are not.
    const log = readFileSync(`${place.database}-wal`)
    const before = readFileSync(place.database)
    raw.exec("pragma wal_checkpoint(truncate)")
    const after = readFileSync(place.database)
    raw.close()
    writeFileSync(copy, Buffer.concat([after.subarray(0, 4_096), before.subarray(4_096)]))
    expect(await codeOf(openEngine({ ...place.options, database: copy }))).toBe("DATABASE_DAMAGED")
    writeFileSync(`${copy}-wal`, log)
    const engine = await openEngine({ ...place.options, database: copy })
    expect(await conversation(engine)).toEqual(["user: hello", "assistant: done"])
    await engine.close()
    expect(integrityOf(copy)).toBe("ok")
  })

  test("an empty file is a new database", async () => {
    using place = openPlace()
    writeFileSync(place.database, "")
    const engine = await openEngine(place.options)
    expect(await engine.sessions.list()).toEqual({ items: [] })
    await engine.close()
  })

  test("is refused when it belongs to another program", async () => {
    using place = openPlace()
    const raw = new DatabaseSync(place.database)
    raw.exec("create table bookmarks (url text)")
    raw.close()
    const before = readFileSync(place.database)
    expect(await codeOf(openEngine(place.options))).toBe("DATABASE_DAMAGED")
    expect(readFileSync(place.database).equals(before)).toBe(true)
  })

  test("is refused when it was cut short or overwritten", async () => {
    using place = openPlace()
    await makeDatabase(place.options, place.directory)
    const whole = readFileSync(place.database)
    const damaged = [
      whole.subarray(0, whole.length - 4_096),
      Buffer.concat([whole.subarray(0, 4_096), Buffer.alloc(whole.length - 4_096, 7)]),
    ]
    for (const content of damaged) {
      writeFileSync(place.database, content)
      expect(await codeOf(openEngine(place.options))).toBe("DATABASE_DAMAGED")
      expect(readFileSync(place.database).equals(content)).toBe(true)
    }
    writeFileSync(place.database, whole)
    const engine = await openEngine(place.options)
    expect(await conversation(engine)).toEqual(["user: hello", "assistant: done"])
    await engine.close()
  })

  test("is refused when the path is a directory, or leads through a file", async () => {
    using place = openPlace()
    expect(await codeOf(openEngine({ ...place.options, database: place.directory }))).toBe("DATABASE_DAMAGED")
    writeFileSync(join(place.base, "file"), "")
    const through = join(place.base, "file", "engine.sqlite")
    expect(await codeOf(openEngine({ ...place.options, database: through }))).toBe("DATABASE_UNWRITABLE")
  })

  test("says so when it is read-only, and can still be read", async () => {
    using place = openPlace()
    await makeDatabase(place.options, place.directory)
    // Root ignores permissions, so there the connection itself is made read-only.
    let connection: DatabaseSync | undefined
    const engine = await openEngineWith(place.options, {
      sqlite: {
        tap: (_point, raw) => {
          connection = raw
        },
      },
    })
    connection?.exec("pragma query_only = on")
    const refused = engine.sessions.prompt({ sessionID, prompt: { text: "more" } })
    expect(await codeOf(refused)).toBe("DATABASE_UNWRITABLE")
    expect(await conversation(engine)).toEqual(["user: hello", "assistant: done"])
    connection?.exec("pragma query_only = off")
    await engine.close()
  })
})

describe("a full disk", () => {
  /** SQLite refuses to grow the file, as on a full disk. */
  const openFull = async () => {
    const place = openPlace()
    let raw: DatabaseSync | undefined
    let ran = 0
    const engine = await openEngineWith(
      {
        ...place.options,
        models: [
          scriptedModel([{ tools: [{ name: "act" }] }, { text: "y".repeat(300_000) }, { text: "fits" }]),
        ],
        tools: [tool("act", () => (ran += 1))],
      },
      {
        sqlite: {
          tap: (_point, connection) => {
            raw = connection
          },
        },
      },
    )
    await engine.sessions.create({ id: sessionID, location: { directory: place.directory } })
    return {
      place,
      engine,
      ran: () => ran,
      fill: (room: number) => {
        const pages = Number(raw?.prepare("pragma page_count").get()?.["page_count"])
        raw?.exec(`pragma max_page_count = ${pages + room}`)
      },
      makeRoom: () => raw?.exec("pragma max_page_count = 1000000"),
    }
  }

  test("refuses a prompt as a whole, and takes it when there is room again", async () => {
    const { place, engine, fill, makeRoom } = await openFull()
    fill(2)
    const prompt = { id: "msg_1", sessionID, prompt: { text: "x".repeat(500_000) }, resume: false }
    expect(await codeOf(engine.sessions.prompt(prompt))).toBe("DATABASE_UNWRITABLE")
    expect(await eventTypes(engine)).toEqual(["created"])
    expect(await engine.sessions.inputs(sessionID)).toEqual([])
    makeRoom()
    expect((await engine.sessions.prompt(prompt)).admittedSeq).toBe(2)
    await engine.close()
    expect(integrityOf(place.database)).toBe("ok")
    place[Symbol.dispose]()
  })

  test("fails the drain that hits it, keeps what was recorded, and goes on when told to", async () => {
    const { place, engine, fill, makeRoom, ran } = await openFull()
    await engine.sessions.prompt({ sessionID, prompt: { text: "go" }, resume: false })
    fill(20)
    const outcome = codeOf(engine.sessions.run(sessionID))
    expect(await outcome).toBe("DATABASE_UNWRITABLE")
    makeRoom()
    await engine.sessions.run(sessionID)
    expect(ran()).toBe(1)
    expect((await conversation(engine)).at(-1)).toBe("assistant: fits")
    expect(brokenLaws(await allEvents(engine))).toEqual([])
    await engine.close()
    expect(integrityOf(place.database)).toBe("ok")
    place[Symbol.dispose]()
  })

  test("does not keep the engine from closing", async () => {
    using place = openPlace()
    let full = false
    const engine = await openEngineWith(place.options, {
      sqlite: {
        tap: (point) => {
          if (full && point === "commit")
            throw new Failure("DATABASE_UNWRITABLE", { file: place.database, why: "full" })
        },
      },
    })
    full = true
    await engine.close()
    expect(integrityOf(place.database)).toBe("ok")
  })
})

describe("sizes", () => {
  test("a prompt of 5 MB, an answer in 100,000 pieces and 10 MB from a tool go through", async () => {
    const ten = "0123456789".repeat(1_000_000)
    await using scene = await openEngineScene(
      [{ tools: [{ name: "act" }] }, { text: "piece ", times: 100_000, chunks: 100_000 }],
      {
        models: [
          scriptedModel(
            [{ tools: [{ name: "act" }] }, { text: "piece ", times: 100_000, chunks: 100_000 }],
            [],
            { contextWindow: 100_000_000 },
          ),
        ],
        tools: [tool("act", () => ten)],
      },
    )
    const { sessions } = scene.engine
    let pieces = 0
    const controller = new AbortController()
    const listening = (async () => {
      for await (const item of sessions.live(sessionID, { signal: controller.signal })) {
        if (item.type === "text.delta") pieces += 1
        if (item.type === "dropped") pieces += item.data.count
      }
    })()
    const text = "five megabytes ".repeat(350_000)
    await sessions.prompt({ sessionID, prompt: { text } })
    await sessions.wait(sessionID)
    controller.abort()
    await listening
    const { items } = await sessions.messages({ sessionID })
    const [user, called, said] = items
    expect(user?.type === "user" && user.text === text).toBe(true)
    expect(
      said?.type === "assistant" && said.content[0]?.type === "text" && said.content[0].text.length,
    ).toBe(600_000)
    const state =
      called?.type === "assistant" && called.content[0]?.type === "tool" ? called.content[0].state : undefined
    const path = state?.status === "completed" ? (state.outputPath ?? "") : ""
    expect(readFileSync(path, "utf8") === ten).toBe(true)
    expect(JSON.stringify(state).length).toBeLessThan(200_000)
    expect(pieces).toBeGreaterThan(90_000)
    expect((await eventTypes(scene.engine)).length).toBeLessThan(20)
  })
})
