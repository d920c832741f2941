/**
 * A database that is moved away while the engine runs. Anything written from then on is lost with the process, so nothing
 * is acknowledged.
 */
import { copyFileSync, cpSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import type { Engine } from "@meridian/engine"
import { Failure } from "@meridian/protocol"
import { describe, expect, test } from "vitest"

import { conversation, openEngineScene } from "../engine-scene.ts"
import { verifies } from "../verifies.ts"

const sessionID = "ses_test"

const send = async (engine: Engine, id: string): Promise<string> => {
  try {
    return (await engine.sessions.prompt({ id, sessionID, prompt: { text: id }, resume: false })).id
  } catch (cause) {
    return cause instanceof Failure ? cause.code : String(cause)
  }
}

const sendTwenty = async (engine: Engine): Promise<ReadonlySet<string>> => {
  const answers = new Set<string>()
  for (let number = 0; number < 20; number += 1) answers.add(await send(engine, `msg_${number}`))
  return answers
}

const REFUSED = new Set(["DATABASE_MOVED"])

describe("nothing is acknowledged after the database", () => {
  test("was deleted", async () => {
    await using scene = await openEngineScene()
    rmSync(scene.file)
    expect(await sendTwenty(scene.engine)).toEqual(REFUSED)
  })

  test("was moved away after its folder had been quiet for long", async () => {
    await using scene = await openEngineScene([], { limits: { pendingInputs: 1_000_000 } })
    const { ctimeMs } = statSync(dirname(scene.file))
    for (let sent = 0; Date.now() - ctimeMs < 300; sent += 1)
      expect(await send(scene.engine, `msg_quiet_${sent}`)).toBe(`msg_quiet_${sent}`)
    renameSync(scene.file, `${scene.file}.away`)
    expect(await sendTwenty(scene.engine)).toEqual(REFUSED)
  })

  test("was deleted with everything beside it, as git clean does", async () => {
    await using scene = await openEngineScene()
    for (const end of ["", "-wal", "-shm"]) rmSync(`${scene.file}${end}`)
    expect(await sendTwenty(scene.engine)).toEqual(REFUSED)
  })

  test("was replaced by a copy of itself", async () => {
    await using scene = await openEngineScene()
    copyFileSync(scene.file, `${scene.file}.copy`)
    renameSync(`${scene.file}.copy`, scene.file)
    expect(await sendTwenty(scene.engine)).toEqual(REFUSED)
  })

  test("was deleted and made anew by somebody else", async () => {
    await using scene = await openEngineScene()
    rmSync(scene.file)
    writeFileSync(scene.file, "")
    expect(await sendTwenty(scene.engine)).toEqual(REFUSED)
  })

  test("was moved away with its folder", async () => {
    await using scene = await openEngineScene()
    const aside = join(dirname(scene.file), "aside")
    mkdirSync(aside)
    for (const end of ["", "-wal", "-shm"])
      renameSync(`${scene.file}${end}`, join(aside, `engine.sqlite${end}`))
    expect(await sendTwenty(scene.engine)).toEqual(REFUSED)
  })

  test("and no tool is begun", async () => {
    let ran = 0
    await using scene = await openEngineScene([{ tools: [{ name: "act" }] }], {
      tools: [{ name: "act", description: "acts", input: { type: "object" }, execute: () => (ran += 1) }],
    })
    await send(scene.engine, "msg_before")
    rmSync(scene.file)
    await scene.engine.sessions.run(sessionID).catch(() => undefined)
    expect(ran).toBe(0)
  })
})

describe("a database that comes back", () => {
  test("is the same one: everything is acknowledged again", async () => {
    await using scene = await openEngineScene()
    renameSync(scene.file, `${scene.file}.away`)
    expect(await send(scene.engine, "msg_1")).toBe("DATABASE_MOVED")
    renameSync(`${scene.file}.away`, scene.file)
    expect(await send(scene.engine, "msg_1")).toBe("msg_1")
    const engine = await scene.reopen()
    await engine.sessions.run(sessionID)
    expect(await conversation(engine)).toEqual(["user: msg_1", "assistant: done"])
  })

  verifies(
    "durable.moved-database",
    async () => {
      await using scene = await openEngineScene()
      rmSync(scene.file)
      const refusal = await scene.engine.sessions
        .prompt({ sessionID, prompt: { text: "hello" } })
        .catch((cause: unknown) => (cause instanceof Failure ? cause.toString() : ""))
      expect(refusal).toContain(
        `The file ${scene.file} was deleted or moved away while Meridian had it open.`,
      )
    },
    "says which file, what happened and what to do",
  )
})

describe("a log that was deleted", () => {
  test("refuses what comes, and what was acknowledged before is in the database", async () => {
    await using scene = await openEngineScene()
    const acknowledged = await send(scene.engine, "msg_before")
    rmSync(`${scene.file}-wal`)
    expect(await sendTwenty(scene.engine)).toEqual(REFUSED)
    // What a process finds that starts after this one was killed.
    const copy = join(dirname(scene.file), "found.sqlite")
    cpSync(scene.file, copy)
    const engine = await scene.reopen({ database: copy })
    const inputs = await engine.sessions.inputs(sessionID)
    expect(inputs.map(({ id }) => id)).toContain(acknowledged)
  })
})
