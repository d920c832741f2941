/** Work that resumes on its own after its process was lost: the same activity, nothing repeated, within a bound. */
import type { Engine, EngineOptions } from "@meridian/engine"
import { describe, expect, test } from "vitest"

import { openHouse, type House } from "../engine-house.ts"
import { brokenLaws } from "../engine-laws.ts"
import {
  ALLOW_ALL,
  allEvents,
  conversation,
  eventTypes,
  gate,
  scriptedModel,
  shown,
  tool,
  untilEvent,
  type Answer,
} from "../engine-scene.ts"
import { damageOf, STORES } from "../engine-stored.ts"
import { verifies } from "../verifies.ts"

const sessionID = "ses_test"
const go = { id: "msg_go", sessionID, prompt: { text: "go" } }
const CONTINUE = { recovery: "continue" } as const
const HOLD: Answer = { hold: true, text: "never" }
const act: Answer = { tools: [{ name: "act" }] }

const standing = async ({ sessions }: Engine) => {
  const { status, waitingFor } = await sessions.get(sessionID)
  return waitingFor === undefined ? status : `${status} for ${waitingFor}`
}

const resumptions = async (engine: Engine) =>
  (await allEvents(engine)).flatMap((event) =>
    event.type === "session.next.activity.resumed.1" ? [[event.data.activityID, event.data.attempt]] : [],
  )

describe.each(STORES)("over the %s store", (store) => {
  const open = (house: House, answers: readonly Answer[], changes: Partial<EngineOptions> = CONTINUE) =>
    house.open(answers, changes)

  /** Prompts, waits until the model is asked, and dies. */
  const dieInTurn = async (house: House, changes: Partial<EngineOptions> = CONTINUE) => {
    const first = await open(house, [HOLD], changes)
    await house.machine.until(first.engine.sessions.prompt(go))
    await house.machine.until(untilEvent(first.engine, "step.started"))
    await house.machine.advance(50)
    first.life.die()
    return first
  }

  const finish = async (house: House, { sessions }: Engine): Promise<void> => {
    await house.machine.advance(20_000)
    await house.machine.until(sessions.wait(sessionID))
  }

  const check = async (house: House, engine: Engine): Promise<void> => {
    expect(brokenLaws(await allEvents(engine))).toEqual([])
    expect(damageOf(house.machine, house.file)).toEqual([])
  }

  verifies("recovery.continue", async () => {
    await using house = openHouse(store)
    await dieInTurn(house)
    const { engine, requests } = await open(house, [{ text: "after all" }])
    await finish(house, engine)
    expect([requests.length, await standing(engine)]).toEqual([1, "idle"])
    expect((await conversation(engine)).at(-1)).toBe("assistant: after all")
    expect(await resumptions(engine)).toEqual([["msg_go", 1]])
    await check(house, engine)
  })

  verifies(
    "recovery.continue",
    async () => {
      await using house = openHouse(store)
      const acting = gate()
      const acts: string[] = []
      const tools = [
        tool("act", async (_input, { callID }) => {
          acts.push(callID)
          await acting.pass()
        }),
      ]
      const first = await open(house, [act], { ...CONTINUE, tools })
      await house.machine.until(first.engine.sessions.prompt(go))
      await house.machine.until(acting.reached)
      first.life.die()
      const { engine, requests } = await open(house, [{ text: "after all" }], { ...CONTINUE, tools })
      await finish(house, engine)
      expect(acts).toHaveLength(1)
      expect(requests.map((request) => shown(request).at(-1))).toEqual(["result: Tool execution interrupted"])
      expect(await conversation(engine)).toEqual(["user: go", "act: error", "assistant: after all"])
      await check(house, engine)
    },
    "in the middle of a call",
  )

  verifies("recovery.settle", async () => {
    await using house = openHouse(store)
    await dieInTurn(house, {})
    const { engine, requests } = await open(house, [{ text: "after all" }], {})
    await house.machine.advance(60_000)
    await house.machine.until(engine.sessions.wait(sessionID))
    expect([requests.length, await standing(engine)]).toEqual([0, "interrupted"])
    await house.machine.until(engine.sessions.run(sessionID))
    expect([requests.length, await standing(engine)]).toEqual([1, "idle"])
    await check(house, engine)
  })

  verifies("recovery.levels", async () => {
    await using house = openHouse(store)
    const first = await open(
      house,
      Array.from({ length: 6 }, () => HOLD),
      { recovery: "continue" },
    )
    const agents = [{ name: "careful", recovery: "settle" }] as const
    const { sessions } = first.engine
    const location = { directory: house.directory }
    const wishes = {
      ses_engine: {},
      ses_agent: { agent: "careful" },
      ses_own: { agent: "careful", recovery: "continue" },
      ses_settle: { recovery: "settle" },
    } as const
    first.life.die()
    const second = await open(
      house,
      Array.from({ length: 6 }, () => HOLD),
      { ...CONTINUE, agents },
    )
    expect(sessions).toBeDefined()
    for (const [id, wish] of Object.entries(wishes)) {
      await house.machine.until(second.engine.sessions.create({ id, location, ...wish }))
      await house.machine.until(
        second.engine.sessions.prompt({ id: `m_${id}`, sessionID: id, prompt: { text: "go" } }),
      )
      await house.machine.until(untilEvent(second.engine, "step.started", 1, id))
    }
    await house.machine.advance(50)
    second.life.die()
    const third = await open(house, [], { ...CONTINUE, agents })
    await house.machine.advance(20_000)
    const standings = Object.keys(wishes).map(async (id) => (await third.engine.sessions.get(id)).status)
    expect(await house.machine.until(Promise.all(standings))).toEqual([
      "idle",
      "interrupted",
      "idle",
      "interrupted",
    ])
  })

  verifies("recovery.queue", async () => {
    await using house = openHouse(store)
    const first = await open(house, [HOLD])
    await house.machine.until(first.engine.sessions.prompt(go))
    await house.machine.until(untilEvent(first.engine, "step.started"))
    for (const text of ["second", "third"])
      await house.machine.until(
        first.engine.sessions.prompt({ sessionID, prompt: { text }, delivery: "queue" }),
      )
    first.life.die()
    const { engine } = await open(house, [{ text: "one" }, { text: "two" }, { text: "three" }])
    await finish(house, engine)
    expect(await conversation(engine)).toEqual([
      "user: go",
      "assistant: one",
      "user: second",
      "assistant: two",
      "user: third",
      "assistant: three",
    ])
    await check(house, engine)
  })

  verifies("recovery.budget", async () => {
    await using house = openHouse(store)
    await dieInTurn(house)
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const { engine, life } = await open(house, [HOLD])
      await house.machine.until(untilEvent(engine, "step.started", attempt + 1))
      await house.machine.advance(50)
      life.die()
    }
    const { engine, requests } = await open(house, [act, { text: "done" }], {
      ...CONTINUE,
      tools: [tool("act", () => "acted")],
    })
    await house.machine.advance(60_000)
    expect([requests.length, await standing(engine)]).toEqual([0, "waiting for question"])
    expect(await resumptions(engine)).toEqual([
      ["msg_go", 1],
      ["msg_go", 2],
      ["msg_go", 3],
    ])
    const [question] = await house.machine.until(engine.questions.list())
    expect(question).toMatchObject({ kind: "recovery", choices: [{ label: "continue" }, { label: "stop" }] })
    await house.machine.until(engine.questions.reply({ requestID: question?.id ?? "", answer: "continue" }))
    await finish(house, engine)
    expect([requests.length, await standing(engine)]).toEqual([2, "idle"])
    await check(house, engine)
  })

  verifies(
    "recovery.budget",
    async () => {
      await using house = openHouse(store)
      const tools = [tool("act", () => "acted")]
      await dieInTurn(house)
      for (let attempt = 1; attempt <= 6; attempt += 1) {
        const answers = [{ tools: [{ name: "act", input: { attempt } }] }, HOLD]
        const { engine, life } = await open(house, answers, { ...CONTINUE, tools })
        await house.machine.until(untilEvent(engine, "tool.success", attempt))
        await house.machine.until(untilEvent(engine, "step.started", 1 + 2 * attempt))
        life.die()
      }
      const { engine } = await open(house, [{ text: "done at last" }], { ...CONTINUE, tools })
      await finish(house, engine)
      expect((await conversation(engine)).at(-1)).toBe("assistant: done at last")
      expect((await resumptions(engine)).map(([, attempt]) => attempt)).toEqual([1, 1, 1, 1, 1, 1, 1])
      await check(house, engine)
    },
    "progress gives new attempts",
  )

  verifies(
    "recovery.budget",
    async () => {
      await using house = openHouse(store)
      await dieInTurn(house)
      for (let attempt = 1; attempt <= 3; attempt += 1) {
        const { engine, life } = await open(house, [HOLD])
        await house.machine.until(untilEvent(engine, "step.started", attempt + 1))
        life.die()
      }
      const { engine, requests } = await open(house, [])
      await house.machine.advance(1_000)
      const [question] = await house.machine.until(engine.questions.list())
      await house.machine.until(engine.questions.reply({ requestID: question?.id ?? "", answer: "stop" }))
      await house.machine.until(engine.sessions.wait(sessionID))
      await house.machine.advance(60_000)
      expect([requests.length, await standing(engine)]).toEqual([0, "interrupted"])
    },
    "and may be stopped",
  )

  verifies("recovery.person", async () => {
    await using house = openHouse(store)
    const acting = gate()
    // Deaf to its signal: the process dies while the interrupt waits for it.
    const tools = [tool("act", () => acting.pass())]
    const first = await open(house, [act], { ...CONTINUE, tools })
    await house.machine.until(first.engine.sessions.prompt(go))
    await house.machine.until(acting.reached)
    void first.engine.sessions.interrupt(sessionID).catch(() => undefined)
    await house.machine.until(untilEvent(first.engine, "interrupt.requested"))
    first.life.die()
    const { engine, requests } = await open(house, [], { ...CONTINUE, tools })
    await house.machine.advance(60_000)
    expect([requests.length, await standing(engine)]).toEqual([0, "interrupted"])
  })

  verifies("recovery.close", async () => {
    await using house = openHouse(store)
    const first = await open(house, [HOLD])
    await house.machine.until(first.engine.sessions.prompt(go))
    await house.machine.until(untilEvent(first.engine, "step.started"))
    await house.machine.until(first.engine.close())
    const { engine, requests } = await open(house, [{ text: "after all" }])
    await finish(house, engine)
    expect([requests.length, await standing(engine)]).toEqual([1, "idle"])
    await check(house, engine)
  })

  verifies("recovery.once", async () => {
    await using house = openHouse(store)
    await dieInTurn(house)
    const answering = gate()
    const answers = Array.from({ length: 4 }, (): Answer => async () => {
      await answering.pass()
      return { text: "after all" }
    })
    const second = await open(house, answers)
    const third = await open(house, answers)
    await house.machine.until(answering.reached)
    const working = [second, third].find(({ requests }) => requests.length > 0)
    const run = working?.engine.sessions.run(sessionID)
    await house.machine.advance(1_000)
    answering.open()
    await house.machine.until(run ?? Promise.reject(new Error("nobody works")))
    await finish(house, third.engine)
    expect(second.requests.length + third.requests.length).toBe(1)
    expect(await resumptions(second.engine)).toEqual([["msg_go", 1]])
    await check(house, third.engine)
  })

  test("an engine that names its sessions goes on when it is asked for", async () => {
    await using house = openHouse(store)
    await dieInTurn(house)
    const { engine, requests } = await open(house, [{ text: "after all" }], {
      ...CONTINUE,
      recover: [sessionID],
    })
    await house.machine.advance(60_000)
    await house.machine.until(engine.sessions.wait(sessionID))
    expect([requests.length, await standing(engine)]).toEqual([0, "interrupted"])
    await house.machine.until(engine.sessions.run(sessionID))
    expect([requests.length, await standing(engine)]).toEqual([1, "idle"])
    expect(await resumptions(engine)).toEqual([["msg_go", 1]])
    await check(house, engine)
  })

  test("the turns before the crash count for the limit of the activity", async () => {
    await using house = openHouse(store)
    const options = { ...CONTINUE, limits: { turnsPerActivity: 4 }, tools: [tool("act", () => "acted")] }
    const first = await open(house, [act, act, HOLD], options)
    await house.machine.until(first.engine.sessions.prompt(go))
    await house.machine.until(untilEvent(first.engine, "step.started", 3))
    first.life.die()
    const { engine, requests } = await open(house, [act, act, act, act], options)
    await house.machine.advance(20_000)
    await house.machine.until(engine.sessions.wait(sessionID).catch(() => undefined))
    expect([requests.length, await standing(engine)]).toEqual([2, "failed"])
    expect((await eventTypes(engine)).filter((type) => type === "step.ended")).toHaveLength(4)
  })
})

test.each(STORES)(
  "a process that dies before or after any commit leaves work that is done in the end, without anybody's help (%s)",
  async (store) => {
    let died = 0
    for (let dieAt = 1; ; dieAt += 1) {
      await using house = openHouse(store)
      const acts: string[] = []
      const answer: Answer = (request) =>
        shown(request).every((line) => !line.startsWith("result")) ? act : { text: "done" }
      const changes = {
        ...CONTINUE,
        tools: [tool("act", (_input, { callID }) => acts.push(callID))],
        models: [scriptedModel(Array.from({ length: 9 }, () => answer))],
      }
      const life = house.machine.start(dieAt)
      const play = async (): Promise<void> => {
        const engine = await life.open({ database: house.file, permissions: ALLOW_ALL, ...changes })
        await engine.sessions.create({ id: sessionID, location: { directory: house.directory } })
        await engine.sessions.prompt(go)
        await engine.sessions.wait(sessionID)
        await engine.close()
      }
      const played = play().catch(() => undefined)
      await house.machine.until(Promise.race([played, life.died]))
      if (!life.isDead()) break
      died += 1
      const next = await house.open([], changes)
      const { sessions } = next.engine
      // An exact retry: what was not acknowledged is requested again.
      await house.machine.until(sessions.prompt(go))
      await house.machine.advance(20_000)
      await house.machine.until(sessions.wait(sessionID).catch(() => undefined))
      expect([dieAt, await standing(next.engine)]).toEqual([dieAt, "idle"])
      expect([dieAt, (await conversation(next.engine)).at(-1)]).toEqual([dieAt, "assistant: done"])
      expect([dieAt, acts.length <= 1]).toEqual([dieAt, true])
      expect([dieAt, ...brokenLaws(await allEvents(next.engine))]).toEqual([dieAt])
      expect(damageOf(house.machine, house.file)).toEqual([])
    }
    expect(died).toBeGreaterThan(10)
  },
)
