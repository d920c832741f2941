/**
 * Sessions that wait for their provider: parked by an event, resumed once, across deaths, processes and clocks that jump.
 */
import type { Engine, Reply } from "@meridian/engine"
import { describe, expect, test } from "vitest"

import { openHouse, type House } from "../engine-house.ts"
import { brokenLaws } from "../engine-laws.ts"
import {
  ALLOW_ALL,
  allEvents,
  conversation,
  eventTypes,
  scriptedModel,
  shown,
  tool,
  untilEvent,
  type Answer,
} from "../engine-scene.ts"
import { damageOf, STORES } from "../engine-stored.ts"
import { verifies } from "../verifies.ts"

const sessionID = "ses_test"
const go = { sessionID, prompt: { text: "go" } }
const MINUTE = 60_000
const WAIT = 10 * MINUTE

const limit = (retryAfter?: string): Reply => ({
  error: {
    status: 429,
    code: "rate_limit_exceeded",
    type: "rate_limit_error",
    message: "slow down",
    ...(retryAfter === undefined ? {} : { headers: { "retry-after": retryAfter } }),
  },
})

const standing = async ({ sessions }: Engine) => {
  const { status, waitingFor, until } = await sessions.get(sessionID)
  return { status, waitingFor, until }
}

const IDLE = { status: "idle", waitingFor: undefined, until: undefined }

describe.each(STORES)("over the %s store", (store) => {
  /** Sends the prompt and lets time pass until the session is parked. */
  const parkedIn = async (house: House, engine: Engine): Promise<number> => {
    await house.machine.until(engine.sessions.prompt(go))
    await house.machine.until(untilEvent(engine, "parked"))
    await house.machine.advance(100)
    const { status, waitingFor, until } = await standing(engine)
    expect([status, waitingFor]).toEqual(["waiting", "limit"])
    return until ?? 0
  }

  verifies("park.told", async () => {
    await using house = openHouse(store)
    const { engine, requests } = await house.open([limit("600"), { text: "later" }])
    await parkedIn(house, engine)
    const state = { over: false }
    const waited = engine.sessions.wait(sessionID).then(() => (state.over = true))
    await house.machine.advance(WAIT - MINUTE)
    expect([requests.length, state.over, (await standing(engine)).status]).toEqual([1, false, "waiting"])
    await house.machine.advance(2 * MINUTE)
    await house.machine.until(waited)
    expect(requests).toHaveLength(2)
    expect(await standing(engine)).toEqual(IDLE)
    expect((await conversation(engine)).at(-1)).toBe("assistant: later")
    expect(brokenLaws(await allEvents(engine))).toEqual([])
  })

  verifies("park.survives", async () => {
    await using house = openHouse(store)
    const first = await house.open([limit("600")])
    const until = await parkedIn(house, first.engine)
    first.life.die()
    const second = await house.open([{ text: "later" }])
    const third = await house.open([{ text: "later" }])
    expect(await standing(third.engine)).toEqual({ status: "waiting", waitingFor: "limit", until })
    await house.machine.advance(WAIT - 2 * MINUTE)
    expect([second.requests.length, third.requests.length]).toEqual([0, 0])
    await house.machine.advance(5 * MINUTE)
    await house.machine.until(third.engine.sessions.wait(sessionID))
    // Once, whichever process was first.
    expect(second.requests.length + third.requests.length).toBe(1)
    expect((await conversation(second.engine)).at(-1)).toBe("assistant: later")
    expect(brokenLaws(await allEvents(third.engine))).toEqual([])
    expect(damageOf(house.machine, house.file)).toEqual([])
  })

  verifies("park.unknown", async () => {
    await using house = openHouse(store)
    const { engine, requests } = await house.open([
      ...Array.from({ length: 12 }, () => limit()),
      { text: "later" },
    ])
    await house.machine.until(engine.sessions.prompt(go))
    await house.machine.advance(20_000)
    expect(requests).toHaveLength(4)
    await house.machine.advance(MINUTE + 20_000)
    expect(requests).toHaveLength(8)
    await house.machine.advance(2 * MINUTE + 20_000)
    expect(requests).toHaveLength(12)
    await house.machine.advance(4 * MINUTE + 20_000)
    await house.machine.until(engine.sessions.wait(sessionID))
    expect((await conversation(engine)).at(-1)).toBe("assistant: later")
    const parked = (await allEvents(engine)).flatMap((event) =>
      event.type === "session.next.parked.1" ? [event.data.count] : [],
    )
    expect(parked).toEqual([1, 2, 3])
  })

  verifies("park.waits-with-the-rest", async () => {
    await using house = openHouse(store)
    const { engine, requests } = await house.open([limit("600"), { text: "later" }])
    await parkedIn(house, engine)
    await house.machine.until(engine.sessions.prompt({ sessionID, prompt: { text: "more" } }))
    await house.machine.advance(MINUTE)
    expect([requests.length, (await engine.sessions.inputs(sessionID)).length]).toEqual([1, 1])
    expect((await standing(engine)).status).toBe("waiting")
    await house.machine.advance(WAIT)
    await house.machine.until(engine.sessions.wait(sessionID))
    expect(await conversation(engine)).toEqual(["user: go", "user: more", "system", "assistant: later"])
  })

  test.each(["wake", "run"] as const)("%s goes on before the time has come", async (verb) => {
    await using house = openHouse(store)
    const { engine, requests } = await house.open([limit("600"), { text: "early" }])
    await parkedIn(house, engine)
    await house.machine.until(engine.sessions[verb](sessionID))
    await house.machine.until(engine.sessions.wait(sessionID))
    expect([requests.length, (await conversation(engine)).at(-1)]).toEqual([2, "assistant: early"])
    await house.machine.advance(2 * WAIT)
    expect(requests).toHaveLength(2)
  })

  test("an early wake that meets the limit again waits again", async () => {
    await using house = openHouse(store)
    const { engine, requests } = await house.open([limit("600"), limit("600"), { text: "later" }])
    await parkedIn(house, engine)
    await house.machine.until(engine.sessions.wake(sessionID))
    await house.machine.advance(MINUTE)
    expect([requests.length, (await standing(engine)).status]).toEqual([2, "waiting"])
    await house.machine.advance(WAIT)
    await house.machine.until(engine.sessions.wait(sessionID))
    expect((await conversation(engine)).at(-1)).toBe("assistant: later")
  })

  test("an interrupt ends the waiting", async () => {
    await using house = openHouse(store)
    const { engine, requests } = await house.open([limit("600")])
    await parkedIn(house, engine)
    await house.machine.until(engine.sessions.interrupt(sessionID))
    expect((await standing(engine)).until).toBeUndefined()
    await house.machine.until(engine.sessions.wait(sessionID))
    await house.machine.advance(2 * WAIT)
    expect(requests).toHaveLength(1)
  })

  test("a clock that jumps over the time is noticed", async () => {
    await using house = openHouse(store)
    const { engine, requests } = await house.open([limit("86400"), { text: "later" }])
    const until = await parkedIn(house, engine)
    house.machine.setClock(until + 1)
    await house.machine.advance(10_000)
    await house.machine.until(engine.sessions.wait(sessionID))
    expect(requests).toHaveLength(2)
  })

  test("results of tools are shown to the model after the wait, and no tool runs twice", async () => {
    await using house = openHouse(store)
    let acts = 0
    const { engine, requests } = await house.open(
      [{ tools: [{ name: "act" }] }, limit("600"), { text: "later" }],
      { tools: [tool("act", () => (acts += 1))] },
    )
    await parkedIn(house, engine)
    await house.machine.advance(WAIT + MINUTE)
    await house.machine.until(engine.sessions.wait(sessionID))
    expect([acts, requests.length]).toEqual([1, 3])
    expect(await conversation(engine)).toEqual(["user: go", "act: completed", "assistant: later"])
  })

  const DAYS_8 = 8 * 24 * 60 * MINUTE
  const askedIn = async (house: House, engine: Engine) => {
    await house.machine.until(engine.sessions.prompt(go))
    await house.machine.until(untilEvent(engine, "question.asked"))
    await house.machine.advance(100)
    const [question] = await house.machine.until(engine.questions.list())
    return question
  }

  verifies("park.beyond-a-week", async () => {
    await using house = openHouse(store)
    const { engine, requests } = await house.open([limit("691200"), { text: "later" }])
    const question = await askedIn(house, engine)
    expect(question).toMatchObject({ kind: "limit", choices: [{ label: "continue" }, { label: "wait" }, {}] })
    const state = { over: false }
    const waited = engine.sessions.wait(sessionID).then(() => (state.over = true))
    await house.machine.until(engine.sessions.prompt({ sessionID, prompt: { text: "more" } }))
    await house.machine.advance(WAIT)
    expect(await standing(engine)).toEqual({
      status: "waiting",
      waitingFor: "question",
      until: undefined,
    })
    expect([requests.length, state.over]).toEqual([1, false])
    await house.machine.until(engine.questions.reply({ requestID: question?.id ?? "", answer: "continue" }))
    await house.machine.until(waited)
    expect([requests.length, (await conversation(engine)).at(-1)]).toEqual([2, "assistant: later"])
    expect(brokenLaws(await allEvents(engine))).toEqual([])
  })

  test("a question about a late limit may be answered with waiting, and then its time counts", async () => {
    await using house = openHouse(store)
    const { engine, requests } = await house.open([limit("691200"), { text: "later" }])
    const question = await askedIn(house, engine)
    await house.machine.until(engine.questions.reply({ requestID: question?.id ?? "", answer: "wait" }))
    const { status, waitingFor, until = 0 } = await standing(engine)
    expect([status, waitingFor]).toEqual(["waiting", "limit"])
    house.machine.setClock(until - MINUTE)
    await house.machine.advance(10_000)
    expect([requests.length, until - (question?.time ?? 0)]).toEqual([1, DAYS_8])
    await house.machine.advance(2 * MINUTE)
    await house.machine.until(engine.sessions.wait(sessionID))
    expect(requests).toHaveLength(2)
  })

  test("a question about a late limit may be answered with stop, and is overtaken by a wake", async () => {
    await using house = openHouse(store)
    const { engine, requests } = await house.open([limit("691200"), limit("691200"), { text: "woken" }])
    const first = await askedIn(house, engine)
    await house.machine.until(engine.questions.reply({ requestID: first?.id ?? "", answer: "stop" }))
    await house.machine.until(engine.sessions.wait(sessionID))
    expect((await standing(engine)).status).toBe("interrupted")
    await house.machine.advance(WAIT)
    expect(requests).toHaveLength(1)
    void engine.sessions.run(sessionID)
    await house.machine.until(untilEvent(engine, "question.asked", 2))
    await house.machine.advance(100)
    await house.machine.until(engine.sessions.wake(sessionID))
    await house.machine.until(engine.sessions.wait(sessionID))
    expect([requests.length, (await conversation(engine)).at(-1)]).toEqual([3, "assistant: woken"])
    expect(await house.machine.until(engine.questions.list())).toEqual([])
    expect(brokenLaws(await allEvents(engine))).toEqual([])
  })

  test("where recovery is off nobody goes on by itself", async () => {
    await using house = openHouse(store)
    const { engine, requests } = await house.open([limit("60"), { text: "later" }], { recover: false })
    await parkedIn(house, engine)
    await house.machine.advance(WAIT)
    expect(requests).toHaveLength(1)
    await house.machine.until(engine.sessions.run(sessionID))
    expect(requests).toHaveLength(2)
  })
})

test("a failure that outlasts the patience is for people", async () => {
  await using house = openHouse("sqlite")
  const { engine } = await house.open(
    Array.from({ length: 40 }, () => limit()),
    { limits: { patienceMs: 5 * MINUTE } },
  )
  await house.machine.until(engine.sessions.prompt(go))
  await house.machine.advance(20 * MINUTE)
  expect((await standing(engine)).status).toBe("failed")
  expect((await eventTypes(engine)).filter((type) => type === "parked")).toHaveLength(2)
})

test.each(STORES)(
  "a process that dies before or after any commit of a wait leaves one that goes on once (%s)",
  async (store) => {
    let died = 0
    for (let dieAt = 1; ; dieAt += 1) {
      await using house = openHouse(store)
      const acts: string[] = []
      let limited = false
      const answer: Answer = (request) => {
        if (shown(request).every((line) => !line.startsWith("result"))) return { tools: [{ name: "act" }] }
        if (limited) return { text: "later" }
        limited = true
        return limit("2")
      }
      const changes = {
        tools: [tool("act", (_input, { callID }) => acts.push(callID))],
        models: [scriptedModel(Array.from({ length: 9 }, () => answer))],
      }
      const prompt = { ...go, id: "msg_1" }
      const life = house.machine.start(dieAt)
      const play = async (): Promise<void> => {
        const engine = await life.open({ database: house.file, permissions: ALLOW_ALL, ...changes })
        await engine.sessions.create({ id: sessionID, location: { directory: house.directory } })
        await engine.sessions.prompt(prompt)
        await engine.sessions.wait(sessionID)
        await engine.close()
      }
      const played = play().catch(() => undefined)
      await house.machine.until(Promise.race([played, life.died]))
      if (!life.isDead()) break
      died += 1
      const next = await house.open([], changes)
      const { sessions } = next.engine
      await house.machine.until(sessions.prompt(prompt))
      await house.machine.until(sessions.wait(sessionID).catch(() => undefined))
      if ((await standing(next.engine)).status === "interrupted")
        await house.machine.until(sessions.run(sessionID))
      await house.machine.until(sessions.wait(sessionID).catch(() => undefined))
      expect([dieAt, (await standing(next.engine)).status]).toEqual([dieAt, "idle"])
      expect([dieAt, acts.length <= 1, new Set(acts).size === acts.length]).toEqual([dieAt, true, true])
      expect([dieAt, ...brokenLaws(await allEvents(next.engine))]).toEqual([dieAt])
      expect(damageOf(house.machine, house.file)).toEqual([])
    }
    expect(died).toBeGreaterThan(10)
  },
)
