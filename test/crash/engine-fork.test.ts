/** A process that dies anywhere in a fork leaves all of it or nothing. The next one clears away what is invisible. */
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"

import { afterAll, beforeAll, expect, test } from "vitest"

import { brokenLaws } from "../engine-laws.ts"
import { createMachine, Death } from "../engine-life.ts"
import { allEvents, makeDirectory, scriptedModel } from "../engine-scene.ts"
import { damageOf, eventCount, STORES } from "../engine-stored.ts"

const sessionID = "ses_test"
let base = ""
beforeAll(() => {
  base = makeDirectory()
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

/** More events than one page of the log has. */
const PROMPTS = 250

/** Points of a close: before and after its one commit. */
const CLOSING = 2

test.each(STORES)("dies before and after every commit of a fork over the %s store", async (store) => {
  let died = 0
  let finished = false
  for (let dieAt = 1; !finished; dieAt += 1) {
    using machine = createMachine({ store })
    const directory = join(base, `${store}-at-${dieAt}`)
    mkdirSync(directory)
    const options = {
      database: join(directory, "engine.sqlite"),
      models: [scriptedModel([])],
    }
    const first = await machine.start().open(options)
    await first.sessions.create({ id: sessionID, location: { directory } })
    for (let n = 0; n < PROMPTS; n += 1)
      await first.sessions.prompt({ sessionID, prompt: { text: `prompt ${n}` } })
    await first.sessions.wait(sessionID)
    const source = await first.sessions.get(sessionID)
    await first.close()

    const opening = machine.start()
    await (await opening.open(options)).close()
    // Opening commits, and so does closing: the first death comes just after the opening.
    const dying = machine.start(opening.points() - CLOSING + dieAt)
    const victim = await dying.open(options)
    const outcome = await victim.sessions.fork({ sessionID, id: "ses_fork" }).then(
      () => "forked",
      (cause: unknown) => (cause instanceof Death || dying.isDead() ? "died" : Promise.reject(cause)),
    )
    if (outcome === "forked") finished = true
    else died += 1
    await victim.close().catch((cause: unknown) => {
      if (!dying.isDead()) throw cause
    })

    const next = await machine.start().open(options)
    const there = (await next.sessions.list()).items.map(({ id }) => id)
    expect([[sessionID], [sessionID, "ses_fork"]]).toContainEqual(there)
    expect(eventCount(machine, options.database)).toBe(source.seq * there.length)
    const fork = await next.sessions.fork({ sessionID, id: "ses_fork" })
    expect(fork.seq).toBe(source.seq)
    expect(brokenLaws(await allEvents(next, "ses_fork"))).toEqual([])
    await next.sessions.create({ id: "ses_more", location: { directory } })
    await next.close()
    expect(damageOf(machine, options.database)).toEqual([])
    rmSync(directory, { recursive: true, force: true })
  }
  // Reserved, at least two pages, published: before and after each commit.
  expect(died).toBeGreaterThanOrEqual(8)
})
