/** The process dies before and after every commit and every act of a session. The next one finds everything in order. */
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"

import type { Engine, EngineOptions } from "@meridian/engine"
import { afterAll, beforeAll, expect, test } from "vitest"

import { brokenLaws, type Act } from "../engine-laws.ts"
import { createMachine, type Life, type Machine } from "../engine-life.ts"
import { allEvents, makeDirectory, scriptedModel, short, shown } from "../engine-scene.ts"
import { damageOf, hasWork, STORES } from "../engine-stored.ts"

const sessionID = "ses_test"
let base = ""
beforeAll(() => {
  base = makeDirectory()
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

interface Attempt {
  readonly machine: Machine
  readonly directory: string
  readonly acts: Act[]
  /** What the engine confirmed, in order. */
  readonly confirmed: string[]
}

type StoreKind = (typeof STORES)[number]

const begin = (store: StoreKind, name: string): Attempt => {
  const directory = join(base, name)
  mkdirSync(directory)
  return { machine: createMachine({ store }), directory, acts: [], confirmed: [] }
}

const optionsOf = (attempt: Attempt, life: Life, asked: { count: number }): EngineOptions => {
  const act = async (_input: never, scene: Act & { readonly signal: AbortSignal }) => {
    life.point("before the act")
    attempt.acts.push({ messageID: scene.messageID, callID: scene.callID })
    life.point("after the act")
    return "acted"
  }
  const answer = async (request: Parameters<typeof shown>[0]) => {
    await life.reach()
    asked.count += 1
    const last = shown(request).at(-1)
    if (last === "user: one") return { text: "two at once", tools: [tool(1), tool(2)] }
    if (last === "user: two") return { tools: [{ name: "careful" }] }
    if (last === "user: hold" && attempt.machine.lives() === 1) return { tools: [{ name: "hang" }] }
    return { text: "ok" }
  }
  const tool = (n: number) => ({ name: "act", input: { n } })
  return {
    database: join(attempt.directory, "engine.sqlite"),
    models: [
      scriptedModel(Array.from({ length: 50 }, () => answer)),
      scriptedModel(
        Array.from({ length: 50 }, () => answer),
        [],
        { id: "fake/two" },
      ),
    ],
    permissions: [
      { action: "*", resource: "*", effect: "allow" },
      { action: "careful", resource: "*", effect: "ask" },
    ],
    tools: [
      { name: "act", description: "acts", input: { type: "object" }, execute: act },
      { name: "careful", description: "asks, then acts", input: { type: "object" }, execute: act },
      {
        name: "hang",
        description: "until it is stopped",
        input: { type: "object" },
        execute: (_input: never, { signal }) =>
          new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
      },
    ],
  }
}

/** Answers every question as it comes, and those already open. */
const answering = async (engine: Engine, signal: AbortSignal): Promise<void> => {
  const reply = async (): Promise<void> => {
    for (const { id } of await engine.permissions.list())
      await engine.permissions.reply({ requestID: id, reply: "once" }).catch(() => undefined)
  }
  await reply()
  for await (const event of engine.sessions.events({ sessionID, follow: true }, { signal }))
    if (short(event.type) === "permission.asked") await reply()
}

/** The whole session, from its first event to its last. Stops when its life ends. */
const play = async (attempt: Attempt, life: Life): Promise<void> => {
  const { confirmed } = attempt
  const engine = await life.open(optionsOf(attempt, life, { count: 0 }))
  const { sessions } = engine
  const controller = new AbortController()
  const step = async (name: string, work: Promise<unknown>): Promise<void> => {
    await work
    confirmed.push(name)
  }
  await step("created", sessions.create({ id: sessionID, location: { directory: attempt.directory } }))
  const replies = answering(engine, controller.signal).catch(unlessDead(life))
  const prompt = (id: string, text: string, delivery: "steer" | "queue", resume = true) =>
    step(`admitted ${id}`, sessions.prompt({ id, sessionID, prompt: { text }, delivery, resume }))
  await prompt("msg_1", "one", "steer")
  await prompt("msg_2", "two", "queue")
  await prompt("msg_3", "three", "queue", false)
  await step("cancelled msg_3", sessions.cancel({ sessionID, id: "msg_3" }))
  await step("switched", sessions.switchModel({ sessionID, model: "fake/two" }))
  await step("settled", sessions.wait(sessionID))
  await prompt("msg_4", "hold", "steer")
  for await (const event of sessions.events({ sessionID, follow: true }))
    if (event.type === "session.next.tool.called.1" && event.data.tool === "hang") break
  await prompt("msg_5", "five", "queue")
  await step("interrupted", sessions.interrupt(sessionID))
  await prompt("msg_6", "six", "steer")
  await step("settled", sessions.wait(sessionID))
  controller.abort()
  await replies
  await engine.close()
}

/** Rejections of a dead life's promises do not matter. */
const unlessDead = (life: Life) => (cause: unknown) => {
  if (!life.isDead()) throw cause
}

/** Plays until the life or the session ends. */
const playUntilDeath = async (attempt: Attempt, life: Life): Promise<void> => {
  const played = play(attempt, life).catch(unlessDead(life))
  await Promise.race([played, life.died])
  if (!life.isDead()) await played
}

/** A new process: it recovers, answers the questions, and continues when told to. */
const goOn = async (attempt: Attempt, life: Life): Promise<readonly string[]> => {
  const broken: string[] = []
  const asked = { count: 0 }
  const options = optionsOf(attempt, life, asked)
  const nothingToWake = !hasWork(attempt.machine, options.database)
  const engine = await life.open(options)
  const location = { directory: attempt.directory }
  if (!attempt.confirmed.includes("created")) await engine.sessions.create({ id: sessionID, location })
  if (nothingToWake) {
    await engine.sessions.wait(sessionID)
    if (asked.count > 0) broken.push("dispatched work went on without a run")
    const { status } = await engine.sessions.get(sessionID)
    if (status === "running") broken.push("an idle session is shown as running")
  }
  const controller = new AbortController()
  const replies = answering(engine, controller.signal).catch(unlessDead(life))
  await engine.sessions.wait(sessionID)
  await engine.sessions.run(sessionID)
  controller.abort()
  await replies
  const last = await allEvents(engine)
  broken.push(...brokenLaws(last, attempt.acts), ...lost(attempt.confirmed, last))
  for (const id of ["msg_1", "msg_2", "msg_4"])
    if (
      attempt.confirmed.includes(`admitted ${id}`) &&
      (await engine.sessions.message({ sessionID, id })) === undefined
    )
      broken.push(`${id} was never promoted`)
  await engine.close()
  return broken
}

/** What was confirmed but is not in the log. */
const lost = (
  confirmed: readonly string[],
  events: Awaited<ReturnType<typeof allEvents>>,
): readonly string[] => {
  const recorded = new Set(
    events.flatMap((event) => {
      if (event.type === "session.next.created.1") return ["created"]
      if (event.type === "session.next.prompt.admitted.1") return [`admitted ${event.data.messageID}`]
      if (event.type === "session.next.prompt.cancelled.1") return [`cancelled ${event.data.messageID}`]
      if (event.type === "session.next.model.switched.1") return ["switched"]
      return event.type === "session.next.interrupt.requested.1" ? ["interrupted"] : []
    }),
  )
  return confirmed.filter((what) => what !== "settled" && !recorded.has(what)).map((what) => `lost: ${what}`)
}

const enumerate = async (
  store: StoreKind,
  dieAt: number,
  dieAgainAt?: number,
): Promise<readonly string[]> => {
  const name = `${store} at ${dieAt}${dieAgainAt === undefined ? "" : ` then ${dieAgainAt}`}`
  const attempt = begin(store, name)
  await playUntilDeath(attempt, attempt.machine.start(dieAt))
  if (dieAgainAt !== undefined) {
    const second = attempt.machine.start(dieAgainAt)
    const played = goOn(attempt, second).catch(unlessDead(second))
    await Promise.race([played, second.died])
    if (!second.isDead()) {
      attempt.machine[Symbol.dispose]()
      return []
    }
  }
  const broken = [
    ...(await goOn(attempt, attempt.machine.start())),
    ...damageOf(attempt.machine, join(attempt.directory, "engine.sqlite")),
  ]
  attempt.machine[Symbol.dispose]()
  rmSync(attempt.directory, { recursive: true, force: true })
  return broken.map((sentence) => `${name}: ${sentence}`)
}

const countPoints = async (store: StoreKind): Promise<number> => {
  const attempt = begin(store, `${store} whole`)
  const life = attempt.machine.start()
  await play(attempt, life)
  attempt.machine[Symbol.dispose]()
  rmSync(attempt.directory, { recursive: true, force: true })
  return life.points()
}

test.each(STORES)(
  "a session over the %s store dies at every commit and every act: nothing is lost, nothing is done twice",
  async (store) => {
    const points = await countPoints(store)
    expect(points).toBeGreaterThan(70)
    const broken: string[] = []
    for (let dieAt = 1; dieAt <= points; dieAt += 1) broken.push(...(await enumerate(store, dieAt)))
    process.stdout.write(`crash points: ${points} deaths over ${store}, ${broken.length} broken laws\n`)
    expect(broken).toEqual([])
  },
)

test.each(STORES)("the process that recovers over the %s store may die as well", async (store) => {
  const points = await countPoints(store)
  const broken: string[] = []
  for (let dieAt = 9; dieAt <= points; dieAt += 5)
    for (const dieAgainAt of [3, 5, 6, 9, 14]) broken.push(...(await enumerate(store, dieAt, dieAgainAt)))
  expect(broken).toEqual([])
})
