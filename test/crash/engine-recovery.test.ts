/** What the next process finds and does, promise by promise. Processes die and freeze as lives of one machine. */
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"

import type { Engine, EngineOptions } from "@meridian/engine"
import { describe, expect, test } from "vitest"

import { brokenLaws } from "../engine-laws.ts"
import { createMachine, type Life, type Machine } from "../engine-life.ts"
import {
  ALLOW_ALL,
  allEvents,
  codeOf,
  conversation,
  eventTypes,
  gate,
  makeDirectory,
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

interface House extends AsyncDisposable {
  readonly machine: Machine
  readonly file: string
  /** Opens the engine of a new life, with a model that gives these answers. */
  readonly open: (
    answers?: readonly Answer[],
    changes?: Partial<EngineOptions>,
  ) => Promise<{
    readonly engine: Engine
    readonly life: Life
    readonly requests: Parameters<typeof shown>[0][]
  }>
}

type Time = { readonly standsStill?: boolean }

const houseOver =
  (store: (typeof STORES)[number]) =>
  (time: Time = {}): House => {
    const base = makeDirectory()
    const machine = createMachine({ ...time, store, storeDelayMs: time.standsStill === true ? 0 : 3 })
    const directory = join(base, "project")
    const file = join(base, "engine.sqlite")
    mkdirSync(directory)
    const closers: (() => Promise<void>)[] = []
    return {
      machine,
      file,
      open: async (answers = [], changes = {}) => {
        const life = machine.start()
        const requests: NonNullable<Parameters<typeof shown>[0]>[] = []
        const options: EngineOptions = {
          database: file,
          models: [scriptedModel(answers, requests)],
          permissions: ALLOW_ALL,
          limits: { leaseMs: 1_000 },
          ...changes,
        }
        const engine = await life.open(options)
        await engine.sessions.create({ id: sessionID, location: { directory } })
        closers.push(async () => {
          if (!life.isDead()) await engine.close()
        })
        return { engine, life, requests }
      },
      [Symbol.asyncDispose]: async () => {
        for (const close of closers.toReversed()) await machine.until(close())
        machine[Symbol.dispose]()
        rmSync(base, { recursive: true, force: true })
      },
    }
  }

const callTool: Answer = { tools: [{ name: "act" }] }

describe.each(STORES)("after a death, over the %s store", (store) => {
  const openHouse = houseOver(store)

  verifies("recovery.pending", async () => {
    await using house = openHouse()
    const turn = gate()
    const first = await house.open([() => turn.pass().then(() => ({ text: "never" }))])
    await first.engine.sessions.prompt(go)
    await turn.reached
    await first.engine.sessions.prompt({ sessionID, prompt: { text: "steer" } })
    await first.engine.sessions.prompt({ sessionID, prompt: { text: "queued" }, delivery: "queue" })
    first.life.die()
    const second = await house.open()
    await second.engine.sessions.wait(sessionID)
    expect(await conversation(second.engine)).toEqual([
      "user: go",
      "user: steer",
      "assistant: done",
      "user: queued",
      "assistant: done",
    ])
    expect(brokenLaws(await allEvents(second.engine))).toEqual([])
  })

  verifies(
    "recovery.pending",
    async () => {
      await using house = openHouse()
      const first = await house.open()
      const other = await house.open()
      const turn = gate()
      await other.engine.sessions.prompt({ ...go, resume: false })
      first.life.die()
      // No process opens anything: the living engine notices that the other one is gone.
      const busy = await house.open([() => turn.pass().then(() => ({ text: "never" }))])
      await busy.engine.sessions.wake(sessionID)
      await turn.reached
      await busy.engine.sessions.prompt({ sessionID, prompt: { text: "waits" } })
      busy.life.die()
      await untilEvent(other.engine, "step.ended")
      await other.engine.sessions.wait(sessionID)
      expect(await conversation(other.engine)).toEqual(["user: go", "user: waits", "assistant: done"])
    },
    "also by an engine that was open all the time",
  )

  verifies("recovery.dispatched", async () => {
    await using house = openHouse()
    const turn = gate()
    const first = await house.open([() => turn.pass().then(() => ({ text: "never" }))])
    await first.engine.sessions.prompt(go)
    await turn.reached
    first.life.die()
    const second = await house.open()
    await second.engine.sessions.wait(sessionID)
    expect(second.requests).toEqual([])
    expect((await second.engine.sessions.get(sessionID)).status).toBe("interrupted")
    expect((await eventTypes(second.engine)).at(-1)).toBe("step.failed")
    await second.engine.sessions.wake(sessionID)
    await second.engine.sessions.wait(sessionID)
    expect(second.requests).toEqual([])
    await second.engine.sessions.run(sessionID)
    expect(shown(second.requests[0])).toEqual(["user: go"])
  })

  verifies("recovery.tools", async () => {
    await using house = openHouse()
    const acting = gate()
    let acts = 0
    const tools = [
      tool("act", () => {
        acts += 1
        return acting.pass()
      }),
    ]
    const first = await house.open([callTool], { tools })
    await first.engine.sessions.prompt(go)
    await acting.reached
    first.life.die()
    const second = await house.open([], { tools })
    expect(await conversation(second.engine)).toEqual(["user: go", "act: error"])
    await second.engine.sessions.run(sessionID)
    expect(shown(second.requests[0])).toEqual(["user: go", "call: act", "result: Tool execution interrupted"])
    expect(acts).toBe(1)
    expect(brokenLaws(await allEvents(second.engine))).toEqual([])
  })

  test("what is left open is settled by whoever runs the session, also where nothing is recovered", async () => {
    await using house = openHouse()
    const acting = gate()
    const tools = [tool("act", () => acting.pass())]
    const first = await house.open([callTool], { tools })
    await first.engine.sessions.prompt(go)
    await acting.reached
    first.life.die()
    const second = await house.open([], { tools, recover: false })
    await second.engine.sessions.run(sessionID)
    expect(await conversation(second.engine)).toEqual(["user: go", "act: error", "assistant: done"])
    expect(brokenLaws(await allEvents(second.engine))).toEqual([])
  })

  test("a question that two people answer at once is answered once", async () => {
    await using house = openHouse()
    let acts = 0
    const changes = { permissions: [], tools: [tool("act", () => (acts += 1))] }
    const { engine } = await house.open([callTool], changes)
    await engine.sessions.prompt(go)
    await untilEvent(engine, "permission.asked")
    const [request] = await engine.permissions.list()
    const reply = (): Promise<string> =>
      codeOf(engine.permissions.reply({ requestID: request?.id ?? "", reply: "once" }))
    expect((await Promise.all([reply(), reply()])).toSorted()).toEqual(["REQUEST_NOT_FOUND", "no failure"])
    await engine.sessions.wait(sessionID)
    expect(acts).toBe(1)
    const replies = (await eventTypes(engine)).filter((type) => type === "permission.replied")
    expect(replies).toHaveLength(1)
  })

  verifies(
    "permission.durable",
    async () => {
      await using house = openHouse()
      let acts = 0
      const changes = { permissions: [], tools: [tool("act", () => (acts += 1))] }
      const first = await house.open([callTool], changes)
      await first.engine.sessions.prompt(go)
      await untilEvent(first.engine, "permission.asked")
      first.life.die()
      const second = await house.open([], changes)
      const [request] = await second.engine.permissions.list()
      expect(request).toMatchObject({ action: "act" })
      await second.engine.permissions.reply({ requestID: request?.id ?? "", reply: "once" })
      await second.engine.sessions.wait(sessionID)
      expect(acts).toBe(1)
      expect(await conversation(second.engine)).toEqual(["user: go", "act: completed", "assistant: done"])
    },
    "also when the process died",
  )

  describe("a question that was answered before its call went on", () => {
    /** Asked by a process that died, and answered in one that could not continue because it had no model. */
    const answered = async (house: House, reply: "once" | "reject") => {
      const acts: string[] = []
      const changes = { permissions: [], tools: [tool("act", (_input, { callID }) => acts.push(callID))] }
      const first = await house.open([callTool], changes)
      await first.engine.sessions.prompt(go)
      await untilEvent(first.engine, "permission.asked")
      first.life.die()
      const second = await house.open([], { ...changes, models: [] })
      const [request] = await second.engine.permissions.list()
      await second.engine.permissions.reply({ requestID: request?.id ?? "", reply })
      await second.engine.sessions.wait(sessionID).catch(() => undefined)
      second.life.die()
      expect(acts).toEqual([])
      return { acts, changes }
    }

    verifies("recovery.answered", async () => {
      await using house = openHouse()
      const { acts, changes } = await answered(house, "once")
      const third = await house.open([], changes)
      expect((await third.engine.sessions.get(sessionID)).status).toBe("running")
      await third.engine.sessions.wait(sessionID)
      expect(acts).toHaveLength(1)
      expect(await conversation(third.engine)).toEqual(["user: go", "act: completed", "assistant: done"])
      third.life.die()
      const fourth = await house.open([], changes)
      await fourth.engine.sessions.wait(sessionID)
      expect([acts.length, (await fourth.engine.sessions.get(sessionID)).status]).toEqual([1, "idle"])
      expect(brokenLaws(await allEvents(fourth.engine))).toEqual([])
    })

    test("is told to the model, too, when the answer was no", async () => {
      await using house = openHouse()
      const { acts, changes } = await answered(house, "reject")
      const third = await house.open([], changes)
      await third.engine.sessions.wait(sessionID)
      expect(acts).toEqual([])
      expect(await conversation(third.engine)).toEqual(["user: go", "act: error", "assistant: done"])
    })

    test("waits for a person where recovery is off, and does not show as idle", async () => {
      await using house = openHouse()
      const { acts, changes } = await answered(house, "once")
      const third = await house.open([], { ...changes, recover: false })
      await third.engine.sessions.wait(sessionID)
      expect(acts).toEqual([])
      expect((await third.engine.sessions.get(sessionID)).status).not.toBe("idle")
      await third.engine.sessions.wake(sessionID)
      await third.engine.sessions.wait(sessionID)
      expect(acts).toHaveLength(1)
    })

    test("is taken up by an engine that was open all the time", async () => {
      await using house = openHouse()
      const acts: string[] = []
      const changes = { permissions: [], tools: [tool("act", (_input, { callID }) => acts.push(callID))] }
      const first = await house.open([callTool], changes)
      const living = await house.open([], changes)
      await first.engine.sessions.prompt(go)
      await untilEvent(first.engine, "permission.asked")
      first.life.die()
      const second = await house.open([], { ...changes, models: [], recover: false })
      const [request] = await second.engine.permissions.list()
      await second.engine.permissions.reply({ requestID: request?.id ?? "", reply: "once" })
      await second.engine.sessions.wait(sessionID).catch(() => undefined)
      second.life.die()
      await untilEvent(living.engine, "step.ended", 2)
      await living.engine.sessions.wait(sessionID)
      expect(acts).toHaveLength(1)
    })
  })

  verifies("projections.rebuilt", async () => {
    await using house = openHouse()
    const changes = { permissions: [], tools: [tool("act", () => "acted")] }
    const { engine } = await house.open([{ text: "a", tools: [{ name: "act" }] }, { error: "auth" }], changes)
    const { sessions } = engine
    await sessions.prompt(go)
    await untilEvent(engine, "permission.asked")
    const [request] = await engine.permissions.list()
    await engine.permissions.reply({ requestID: request?.id ?? "", reply: "always" })
    expect(await codeOf(sessions.wait(sessionID))).toBe("MODEL_FAILED")
    await sessions.switchAgent({ sessionID, agent: "plan" })
    await sessions.prompt({ id: "msg_1", ...go, resume: false })
    await sessions.cancel({ sessionID, id: "msg_1" })
    await sessions.prompt({ id: "msg_2", ...go, resume: false })
    await engine.close()
    expect(damageOf(house.machine, house.file)).toEqual([])
  })
})

describe.each(STORES)("a frozen process, over the %s store", (store) => {
  const openHouse = houseOver(store)
  /** The memory store reports changes at once, so the drain was stopped before it could try to write. */
  const tooLate = store === "memory" ? "no failure" : "FENCED"

  verifies("fence.stale", async () => {
    // Time stands still, so it cannot notice on its own.
    await using house = openHouse({ standsStill: true })
    const acting = gate()
    const frozen = await house.open([callTool], {
      tools: [
        tool("act", async () => {
          await acting.pass()
          return "too late"
        }),
      ],
    })
    await frozen.engine.sessions.prompt(go)
    await acting.reached
    frozen.life.freeze()
    const second = await house.open()
    expect(await conversation(second.engine)).toEqual(["user: go", "act: error"])
    const outcome = codeOf(frozen.engine.sessions.wait(sessionID))
    acting.open()
    expect(await outcome).toBe(tooLate)
    expect(frozen.life.writtenAfterFreeze()).toBe(0)
    expect(brokenLaws(await allEvents(second.engine))).toEqual([])
    await second.engine.sessions.run(sessionID)
    expect(frozen.life.writtenAfterFreeze()).toBe(0)
  })

  test("does not act on an answer that another process has taken over", async () => {
    await using house = openHouse()
    let acts = 0
    const changes = { permissions: [], tools: [tool("act", () => (acts += 1))] }
    const frozen = await house.open([callTool], changes)
    await frozen.engine.sessions.prompt(go)
    await untilEvent(frozen.engine, "permission.asked")
    frozen.life.freeze()
    const second = await house.open([], changes)
    const [request] = await second.engine.permissions.list()
    await second.engine.permissions.reply({ requestID: request?.id ?? "", reply: "once" })
    await second.engine.sessions.wait(sessionID)
    await codeOf(frozen.engine.sessions.wait(sessionID))
    expect(acts).toBe(1)
    expect(await frozen.engine.sessions.active()).toEqual([])
    expect(frozen.life.writtenAfterFreeze()).toBe(0)
  })

  test("is told to stop as soon as it sees that it lost its session", async () => {
    await using house = openHouse()
    const acting = gate()
    let told = ""
    const frozen = await house.open([callTool], {
      tools: [
        tool("act", async (_input, { signal }) => {
          signal.addEventListener("abort", () => {
            told = "stop"
          })
          await acting.pass()
        }),
      ],
    })
    await frozen.engine.sessions.prompt(go)
    await acting.reached
    frozen.life.freeze()
    const second = await house.open()
    const outcome = frozen.engine.sessions.wait(sessionID).then(
      () => "settled",
      () => "failed",
    )
    await outcome
    expect(told).toBe("stop")
    expect(await frozen.engine.sessions.active()).toEqual([])
    expect(frozen.life.writtenAfterFreeze()).toBe(0)
    expect(brokenLaws(await allEvents(second.engine))).toEqual([])
  })

  test("is given up after the lease time of silence, and not before", async () => {
    await using house = openHouse({ standsStill: true })
    const turn = gate()
    const silent = await house.open([() => turn.pass().then(() => ({ text: "late" }))])
    await silent.engine.sessions.prompt(go)
    await turn.reached
    silent.life.fallSilent()
    const second = await house.open()
    // Its silence counts from the first look at it.
    expect((await second.engine.sessions.get(sessionID)).status).toBe("running")
    await house.machine.advance(999)
    expect((await second.engine.sessions.get(sessionID)).status).toBe("running")
    expect((await eventTypes(second.engine)).at(-1)).toBe("step.started")
    await house.machine.until(untilEvent(second.engine, "step.failed"))
    turn.open()
    expect(await codeOf(silent.engine.sessions.wait(sessionID))).toBe(tooLate)
  })

  test("a sign of life keeps its session, whatever the wall clock does", async () => {
    await using house = openHouse({ standsStill: true })
    const turn = gate()
    const owner = await house.open([() => turn.pass().then(() => ({ text: "in time" }))])
    await owner.engine.sessions.prompt(go)
    await turn.reached
    const second = await house.open()
    for (const clock of [0, 4_000_000_000_000, -1, 1_600_000_000_000]) {
      house.machine.setClock(clock)
      await house.machine.advance(900)
    }
    turn.open()
    await owner.engine.sessions.wait(sessionID)
    expect(await conversation(second.engine)).toEqual(["user: go", "assistant: in time"])
    const times = (await allEvents(second.engine)).map(({ time }) => time)
    expect(times).not.toEqual(times.toSorted((left, right) => left - right))
    expect(brokenLaws(await allEvents(second.engine))).toEqual([])
  })
})
