/** Many callers at once share commits and flushes; a caller alone does not wait. */
import { rmSync } from "node:fs"
import { join } from "node:path"

import { expect, test, vi } from "vitest"

import { openEngineWith } from "../../packages/engine/src/open-engine.ts"
import { ALLOW_ALL, makeDirectory, scriptedModel } from "../engine-scene.ts"

/** Counts what reaches the file. */
const openCounting = async () => {
  const directory = makeDirectory()
  const counts = { commit: 0, flush: 0 }
  const steps: string[] = []
  const engine = await openEngineWith(
    { database: join(directory, "engine.sqlite"), models: [scriptedModel([])], permissions: ALLOW_ALL },
    {
      sqlite: {
        tap: (point) => {
          steps.push(point)
          if (point !== "committed") counts[point] += 1
        },
      },
    },
  )
  const create = (id: string) => engine.sessions.create({ id, location: { directory } })
  return {
    engine,
    create,
    /** What happened, oldest first. A test adds its own observations. */
    steps,
    /** Afterwards the last round of the event loop had one caller. */
    comeAlone: async () => {
      await new Promise(setImmediate)
      await create("ses_lone")
      await new Promise(setImmediate)
    },
    admit: (sessionID: string) =>
      engine.sessions.prompt({ sessionID, prompt: { text: "hello" }, resume: false }),
    /** The commits and flushes of a piece of work. */
    counted: async (work: () => Promise<unknown>) => {
      const before = { ...counts }
      await work()
      return { commits: counts.commit - before.commit, flushes: counts.flush - before.flush }
    },
    [Symbol.asyncDispose]: async () => {
      await engine.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

const names = Array.from({ length: 32 }, (_unused, index) => `ses_${index}`)

test("prompts that arrive together share a commit and a flush, and each has its own receipt", async () => {
  await using scene = await openCounting()
  for (const name of names) await scene.create(name)
  await scene.comeAlone()
  const receipts: (readonly [session: string, seq: number])[] = []
  const cost = await scene.counted(async () => {
    const given = await Promise.all(names.map(scene.admit))
    receipts.push(...given.map(({ sessionID, admittedSeq }) => [sessionID, admittedSeq] as const))
  })
  // The first cannot know of the others.
  expect(cost).toEqual({ commits: 2, flushes: 2 })
  expect(receipts).toEqual(names.map((name) => [name, 2]))
})

test("a prompt that arrives alone is committed and flushed at once", async () => {
  await using scene = await openCounting()
  await scene.create("ses_alone")
  await scene.comeAlone()
  const cost = await scene.counted(async () => {
    for (let prompt = 0; prompt < 3; prompt += 1) {
      await scene.admit("ses_alone")
      await new Promise(setImmediate)
    }
  })
  expect(cost).toEqual({ commits: 3, flushes: 3 })
})

test("whoever follows a session has a prompt before the disk is waited for, and the caller its receipt after", async () => {
  await using scene = await openCounting()
  await scene.create("ses_followed")
  await scene.comeAlone()
  const { steps } = scene
  const following = (async () => {
    const asked = { sessionID: "ses_followed", follow: true }
    for await (const { last } of scene.engine.sessions.eventFrames(asked)) {
      steps.push(`event ${last}`)
      if (last === 2) return
    }
  })()
  await vi.waitFor(() => expect(steps).toContain("event 1"))
  await new Promise(setImmediate)
  steps.length = 0
  await scene.admit("ses_followed")
  steps.push("receipt")
  await following
  expect(steps).toEqual(["commit", "committed", "event 2", "flush", "receipt"])
})
