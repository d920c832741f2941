/**
 * A process that dies anywhere while a session and its child work leaves a family that continues and does nothing twice.
 */
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"

import type { Engine, EngineOptions, Reply } from "@meridian/engine"
import { afterAll, beforeAll, expect, test } from "vitest"

import type { ModelRequest } from "../../packages/engine/src/port/model.ts"
import { brokenLaws } from "../engine-laws.ts"
import { createMachine } from "../engine-life.ts"
import { allEvents, allMessages, makeDirectory, scriptedModel, shown, tool } from "../engine-scene.ts"
import { damageOf } from "../engine-stored.ts"
import { verifies } from "../verifies.ts"

const sessionID = "ses_test"
let base = ""
beforeAll(() => {
  base = makeDirectory()
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

/** Answers from what was said so far, so that the process that takes it up gets the same answer. */
const answer = (request: ModelRequest, background: boolean): Reply => {
  const lines = shown(request)
  const isChild = lines[0] === "user: count"
  const results = lines.filter((line) => line.startsWith("result")).length
  if (results > 0) return { text: isChild ? "7 files" : "all done" }
  return isChild
    ? { tools: [{ name: "act" }] }
    : { tools: [{ name: "task", input: { description: "count", prompt: "count", background } }] }
}

/** Work of a dead process never completes. */
const settle = async (work: Promise<unknown>, died?: Promise<void>): Promise<void> => {
  await Promise.race([work.catch(() => undefined), ...(died === undefined ? [] : [died])])
}

interface Family {
  readonly store: "sqlite" | "memory"
  readonly background: boolean
}

/** No request is made: the result of background work is reported on its own. */
const reported = async ({ sessions }: Engine): Promise<void> => {
  let begun = false
  for await (const { type } of sessions.events({ sessionID }))
    begun ||= type === "session.next.task.started.1"
  if (begun)
    for await (const event of sessions.events({ sessionID, follow: true }))
      if (event.type === "session.next.task.ended.1") break
  await settle(sessions.wait(sessionID))
}

/** Dies at each commit in turn, until one life finishes. */
const dieEverywhere = async ({ store, background }: Family): Promise<number> => {
  let finished = false
  let deaths = 0
  for (let dieAt = 1; !finished; dieAt += 1) {
    using machine = createMachine({ store })
    const directory = join(base, `${store}-${background}-${dieAt}`)
    mkdirSync(directory)
    let acted = 0
    const parentAnswered = Promise.withResolvers<void>()
    const options: EngineOptions = {
      database: join(directory, "engine.sqlite"),
      models: [
        scriptedModel([], [], {
          script: async ({ body }) => {
            // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the scripted model hands its request over as it is
            const request = body as ModelRequest
            const given = answer(request, background)
            if (given.text === "all done") parentAnswered.resolve()
            // The parent rests when its child is done.
            if (given.text === "7 files" && background) await parentAnswered.promise
            return given
          },
        }),
      ],
      permissions: [{ action: "*", resource: "*", effect: "allow" }],
      tools: [tool("act", () => void (acted += 1))],
      ...(background ? { recovery: "continue" as const } : {}),
    }
    const first = await machine.start().open(options)
    await first.sessions.create({ id: sessionID, location: { directory } })
    await first.close()
    const opening = machine.start()
    await (await opening.open(options)).close()
    const dying = machine.start(opening.points() - 2 + dieAt)
    const victim = await dying.open(options)
    await settle(victim.sessions.prompt({ id: "msg_go", sessionID, prompt: { text: "go" } }), dying.died)
    if (!dying.isDead()) await settle(victim.sessions.wait(sessionID), dying.died)
    await settle(victim.close(), dying.died)
    if (dying.isDead()) deaths += 1
    else finished = true

    const next = await machine.start().open(options)
    // A retry asks for work. An unneeded retry would hide that nothing else does.
    const isAdmitted = (await allEvents(next)).some(({ type }) => type === "session.next.prompt.admitted.1")
    if (!background || !isAdmitted)
      await next.sessions.prompt({ id: "msg_go", sessionID, prompt: { text: "go" } })
    await settle(next.sessions.wait(sessionID))
    if (background) await reported(next)
    // Interrupted work resumes on request.
    else if (
      (await allMessages(next)).at(-1)?.type !== "assistant" ||
      (await next.sessions.get(sessionID)).status !== "idle"
    )
      await settle(next.sessions.run(sessionID))
    await settle(next.sessions.wait(sessionID))
    const family = await next.sessions.children(sessionID)
    expect(family.length).toBeLessThanOrEqual(1)
    const sessions = (await next.sessions.list()).items.map(({ id }) => id)
    expect(sessions.length).toBe(1 + family.length)
    expect(acted).toBeLessThanOrEqual(1)
    for (const id of sessions) {
      const events = await allEvents(next, id)
      expect([id, dieAt, brokenLaws(events)]).toEqual([id, dieAt, []])
      const countOf = (type: string): number => events.filter((event) => event.type === type).length
      const begun = countOf("session.next.task.started.1")
      expect(begun).toBeLessThanOrEqual(1)
      expect(countOf("session.next.task.ended.1")).toBe(begun)
      expect(countOf("session.next.prompt.admitted.1")).toBe(background && begun === 1 ? 2 : 1)
    }
    await next.close()
    expect(damageOf(machine, options.database)).toEqual([])
    rmSync(directory, { recursive: true, force: true })
  }
  return deaths
}

verifies("children.crash", async () => {
  expect(await dieEverywhere({ store: "sqlite", background: false })).toBeGreaterThan(10)
})

test.each<Family>([
  { store: "memory", background: false },
  { store: "sqlite", background: true },
  { store: "memory", background: true },
])("the same over %j: a result in the background is told when the engine opens", async (family) => {
  expect(await dieEverywhere(family)).toBeGreaterThan(10)
})
