/** No way to overspend: the caps of a session, and the breakers beside them. */
import type { Engine, EngineOptions } from "@meridian/engine"
import { describe, expect } from "vitest"

import type { ModelRequest } from "../../packages/engine/src/port/model.ts"
import { brokenLaws } from "../engine-laws.ts"
import {
  allEvents,
  codeOf,
  conversation,
  eventTypes,
  gate,
  openEngineScene,
  scriptedModel,
  tool,
  untilEvent,
  type Answer,
} from "../engine-scene.ts"
import { verifies } from "../verifies.ts"

const sessionID = "ses_test"
const go = { sessionID, prompt: { text: "go" } }
/** A dollar per million tokens: 100,000 tokens are ten cents. */
const PRICE = { input: 1, output: 1 }
let nextInput = 0
const acting = (tokens = 100_000): Answer => ({
  tools: [{ name: "act", input: { n: (nextInput += 1) } }],
  usage: { input: tokens, output: 0 },
})
/** Never done, and never the same twice. */
const ENDLESS = Array.from({ length: 60 }, () => acting())

const openScene = (
  changes: Partial<EngineOptions> & { readonly answers?: readonly Answer[]; readonly price?: boolean } = {},
) => {
  const { answers = ENDLESS, price = true, ...options } = changes
  const requests: ModelRequest[] = []
  return openEngineScene([], {
    models: [scriptedModel(answers, requests, price ? { price: PRICE, contextWindow: 20_000_000 } : {})],
    tools: [tool("act", () => "acted")],
    compaction: { auto: false },
    ...options,
  }).then((scene) => Object.assign(scene, { asked: requests }))
}

const LONG = "some words of a long result. ".repeat(2_000)
const SUMMARY: Answer = { text: "## Objective\ngo" }

/** A window so small that each result fills it. */
const openCompacting = ({
  summary = SUMMARY,
  answer = () => ({
    tools: [{ name: "act", input: { n: (nextInput += 1) } }],
    usage: { input: 10, output: 1 },
  }),
  result = LONG,
  ...changes
}: Partial<EngineOptions> & {
  readonly summary?: Answer
  readonly answer?: (request: ModelRequest) => Answer
  readonly result?: string
}) => {
  const requests: ModelRequest[] = []
  const next: Answer = async (request) => {
    const one = request.tools.length === 0 ? summary : answer(request)
    return typeof one === "function" ? await one(request) : one
  }
  return openEngineScene([], {
    models: [
      scriptedModel(
        Array.from({ length: 80 }, () => next),
        requests,
        { price: PRICE, contextWindow: 20_000, maxOutput: 1_000 },
      ),
    ],
    tools: [tool("act", () => result)],
    ...changes,
  }).then((scene) => Object.assign(scene, { asked: requests }))
}

const questionIn = async (engine: Engine) => {
  await untilEvent(engine, "question.asked")
  return await openQuestion(engine)
}

const openQuestion = async (engine: Engine) => {
  const [question] = await engine.questions.list({ sessionID })
  if (question === undefined) throw new Error("nothing is asked")
  return question
}

const wasTold = (asked: readonly ModelRequest[], words: string): boolean =>
  asked.some(({ prompt }) => JSON.stringify(prompt).includes(words))

const standing = async (engine: Engine) => {
  for (;;) {
    const { status, waitingFor } = await engine.sessions.get(sessionID)
    // The question exists before its drain has ended.
    if (status !== "running") return [status, waitingFor]
    // oxlint-disable-next-line eslint/no-await-in-loop -- looked at again
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

const spent = async (engine: Engine) => (await engine.sessions.budget(sessionID)).spent

describe("caps", () => {
  verifies("cap.question", async () => {
    await using scene = await openScene({
      budget: { maxCost: 0.25 },
      answers: [...ENDLESS.slice(0, 4), { text: "done" }],
    })
    const { engine, asked } = scene
    await engine.sessions.prompt(go)
    const question = await questionIn(engine)
    expect(question).toMatchObject({ kind: "budget", other: true, detail: { measure: "cost", cap: 0.25 } })
    expect(question.text).toContain("0.3 dollars of 0.25 dollars")
    expect(await standing(engine)).toEqual(["waiting", "budget"])
    // At most one turn over the cap.
    expect(asked).toHaveLength(3)
    await engine.questions.reply({ requestID: question.id, answer: "raise" })
    await engine.sessions.wait(sessionID)
    expect(asked).toHaveLength(5)
    expect((await conversation(engine)).at(-1)).toBe("assistant: done")
    expect(await eventTypes(engine)).not.toContain("interrupt.requested")
    expect(brokenLaws(await allEvents(engine))).toEqual([])
  })

  const MEASURES = [
    ["tokens", { maxTokens: 250_000 }, 3],
    ["turns", { maxTurns: 4 }, 4],
    ["cost", { maxCost: 0.1 }, 1],
  ] as const
  for (const [measure, budget, turns] of MEASURES)
    verifies(
      "cap.measures",
      async () => {
        await using scene = await openScene({ budget })
        await scene.engine.sessions.prompt(go)
        expect(await questionIn(scene.engine)).toMatchObject({ kind: "budget", detail: { measure } })
        expect(scene.asked).toHaveLength(turns)
      },
      measure,
    )

  verifies(
    "cap.measures",
    async () => {
      await using scene = await openScene({
        budget: { maxTimeMs: 30 },
        tools: [
          tool("act", async () => await new Promise((resolve) => setTimeout(() => resolve("acted"), 20))),
        ],
      })
      const { engine } = scene
      await engine.sessions.prompt(go)
      expect(await questionIn(engine)).toMatchObject({ detail: { measure: "timeMs" } })
      const { timeMs } = await spent(engine)
      expect(timeMs).toBeGreaterThanOrEqual(30)
      // Waiting for an answer is not work.
      const again = await scene.reopen()
      expect((await spent(again)).timeMs).toBe(timeMs)
    },
    "time at work",
  )

  verifies("cap.counts", async () => {
    const failing: Answer = { error: "server" }
    await using scene = await openScene({
      budget: { maxTurns: 5 },
      answers: [failing, failing, ...ENDLESS.slice(0, 9)],
    })
    const { engine, asked } = scene
    await engine.sessions.prompt(go)
    await questionIn(engine)
    // Two tries that failed, and three turns.
    expect(asked).toHaveLength(5)
    expect((await spent(engine)).turns).toBe(5)
    const copy = await engine.sessions.fork({ sessionID })
    expect((await engine.sessions.budget(copy.id)).spent).toEqual({ cost: 0, tokens: 0, turns: 0, timeMs: 0 })
  })

  verifies("cap.levels", async () => {
    await using scene = await openScene({
      budget: { maxTurns: 9, maxTokens: 9_000_000 },
      agents: [{ name: "build", budget: { maxTurns: 3 } }],
    })
    const { engine, asked, directory } = scene
    await engine.sessions.create({ id: "ses_own", location: { directory }, budget: { maxTurns: 2 } })
    expect((await engine.sessions.budget("ses_own")).caps).toEqual({ maxTurns: 2, maxTokens: 9_000_000 })
    expect((await engine.sessions.budget(sessionID)).caps).toEqual({ maxTurns: 3, maxTokens: 9_000_000 })
    await engine.sessions.setBudget({ sessionID, maxTurns: 12 })
    expect((await engine.sessions.budget(sessionID)).caps).toEqual({ maxTurns: 12, maxTokens: 9_000_000 })
    await engine.sessions.prompt(go)
    await questionIn(engine)
    expect(asked).toHaveLength(12)
  })

  verifies("cap.restart", async () => {
    await using scene = await openScene({ budget: { maxTurns: 2 } })
    await scene.engine.sessions.prompt(go)
    const question = await questionIn(scene.engine)
    const engine = await scene.reopen()
    expect(await openQuestion(engine)).toEqual(question)
    await engine.sessions.run(sessionID)
    expect(scene.asked).toHaveLength(2)
    await engine.questions.reply({ requestID: question.id, answer: "4" })
    await untilEvent(engine, "question.asked", 2)
    expect(scene.asked).toHaveLength(4)
    expect(brokenLaws(await allEvents(engine))).toEqual([])
  })

  verifies("cap.run", async () => {
    await using scene = await openScene({ budget: { maxTurns: 1 } })
    const { engine, asked } = scene
    await engine.sessions.prompt(go)
    const question = await questionIn(engine)
    await engine.sessions.run(sessionID)
    await engine.sessions.wake(sessionID)
    await engine.sessions.prompt({ ...go, prompt: { text: "more" } })
    await engine.sessions.run(sessionID)
    expect(asked).toHaveLength(1)
    expect(await engine.questions.list()).toEqual([question])
    expect(await engine.sessions.inputs(sessionID)).toHaveLength(1)
  })

  verifies("cap.stop", async () => {
    await using scene = await openScene({ budget: { maxTurns: 1 } })
    const { engine, asked } = scene
    await engine.sessions.prompt(go)
    await engine.questions.reply({ requestID: (await questionIn(engine)).id, answer: "stop" })
    await engine.sessions.wait(sessionID)
    expect(await standing(engine)).toEqual(["interrupted", undefined])
    await engine.sessions.prompt(go)
    await untilEvent(engine, "question.asked", 2)
    expect(asked).toHaveLength(1)
  })

  verifies("cap.below-spent", async () => {
    await using scene = await openScene({ budget: { maxTurns: 3 } })
    const { engine } = scene
    await engine.sessions.prompt(go)
    const { id: requestID } = await questionIn(engine)
    const { seq } = await engine.sessions.get(sessionID)
    expect(await codeOf(engine.questions.reply({ requestID, answer: "3" }))).toBe("CAP_BELOW_SPENT")
    expect(await codeOf(engine.sessions.setBudget({ sessionID, maxTurns: 2 }))).toBe("CAP_BELOW_SPENT")
    expect(await codeOf(engine.sessions.setBudget({ sessionID, maxCost: 0.2 }))).toBe("CAP_BELOW_SPENT")
    expect((await engine.sessions.get(sessionID)).seq).toBe(seq)
  })

  verifies("cap.bad-answer", async () => {
    await using scene = await openScene({ budget: { maxTurns: 3 } })
    const { engine } = scene
    await engine.sessions.prompt(go)
    const { id: requestID } = await questionIn(engine)
    for (const answer of [
      "more",
      "",
      "-5",
      "cost=9",
      "turns=1e99",
      "turns=5 rounds=3",
      ["raise", "stop"],
      "NaN",
      "0",
    ])
      expect([answer, await codeOf(engine.questions.reply({ requestID, answer }))]).toEqual([
        answer,
        "INVALID_INPUT",
      ])
    for (const budget of [
      { maxTurns: 0 },
      { maxTurns: 1.5 },
      { maxCost: -1 },
      { maxCost: Number.NaN },
      { maxSteps: 3 },
    ])
      expect(await codeOf(engine.sessions.setBudget({ sessionID, ...budget }))).toBe("INVALID_INPUT")
    await engine.questions.reply({ requestID, answer: "turns=5 cost=$7.50 tokens=5000000 time=2h" })
    const { caps } = await engine.sessions.budget(sessionID)
    expect(caps).toEqual({ maxTurns: 5, maxCost: 7.5, maxTokens: 5_000_000, maxTimeMs: 7_200_000 })
  })

  verifies("cap.set", async () => {
    await using scene = await openScene({
      budget: { maxTurns: 2 },
      answers: [...ENDLESS.slice(0, 3), { text: "done" }],
    })
    const { engine, asked } = scene
    await engine.sessions.prompt(go)
    await questionIn(engine)
    const { caps } = await engine.sessions.setBudget({ sessionID, maxTurns: 10 })
    expect(caps).toEqual({ maxTurns: 10 })
    await engine.sessions.wait(sessionID)
    expect([asked.length, await engine.questions.list()]).toEqual([4, []])
    expect(brokenLaws(await allEvents(engine))).toEqual([])
  })

  verifies("cap.told", async () => {
    await using scene = await openScene({ budget: { maxTurns: 20, maxTokens: 4_000_000 } })
    const { engine, asked } = scene
    await engine.sessions.prompt(go)
    await untilEvent(engine, "warned", 2)
    const again = await scene.reopen({ recovery: "continue" })
    await again.sessions.run(sessionID)
    await openQuestion(again)
    const told = (await allEvents(again)).flatMap((event) =>
      event.type === "session.next.warned.1"
        ? [event.data.told?.map(({ measure, percent }) => `${measure} ${percent}`)]
        : [],
    )
    // Twenty turns, and forty times a hundred thousand tokens would fit.
    expect(told).toEqual(
      [["turns 50"], ["tokens 50", "turns 80"], ["turns 95"]].map((one) =>
        expect.arrayContaining(one.slice(-1)),
      ),
    )
    const texts = (request: ModelRequest | undefined) => JSON.stringify(request?.prompt ?? [])
    expect(texts(asked[9])).not.toContain("What is left of the budget")
    expect(texts(asked[10])).toContain("10 turns of 20 turns (50 % used)")
    // After everything that was there before, so the cached prefix stays unchanged.
    const [before, after] = [asked[9]?.prompt ?? [], asked[10]?.prompt ?? []]
    expect(after.slice(0, before.length)).toEqual(before)
    expect(texts(asked.at(-1)).match(/10 turns of 20 turns/g)).toHaveLength(1)
  })

  verifies("cap.unpriced", async () => {
    await using scene = await openScene({ budget: { maxCost: 0.01, maxTokens: 250_000 }, price: false })
    const { engine, asked } = scene
    await engine.sessions.prompt(go)
    expect(await questionIn(engine)).toMatchObject({ detail: { measure: "tokens" } })
    expect(asked).toHaveLength(3)
    const said = (await allEvents(engine)).filter(
      (event) => event.type === "session.next.warned.1" && event.data.about === "price",
    )
    expect(said).toMatchObject([{ data: { unpriced: "fake/one" } }])
    expect(wasTold(asked, "price of fake/one")).toBe(false)
  })

  verifies("cap.whole-tool", async () => {
    const held = gate()
    const ended: string[] = []
    await using scene = await openScene({
      budget: { maxTurns: 1 },
      tools: [
        tool("act", async (_input, { signal }) => {
          await held.pass()
          ended.push(signal.aborted ? "stopped" : "whole")
          return "acted"
        }),
      ],
    })
    const { engine } = scene
    await engine.sessions.prompt(go)
    await held.reached
    // The budget is already used up, but the question comes only after the tool has ended.
    expect([(await spent(engine)).turns, await engine.questions.list()]).toEqual([1, []])
    held.open()
    await questionIn(engine)
    expect(ended).toEqual(["whole"])
  })

  verifies("cap.compaction", async () => {
    // The summary alone costs more than what is left.
    const summary: Answer = { text: "## Objective\ngo", usage: { input: 500_000, output: 0 } }
    await using scene = await openCompacting({ budget: { maxCost: 0.3 }, summary })
    const { engine } = scene
    await engine.sessions.prompt(go)
    expect(await questionIn(engine)).toMatchObject({ kind: "budget", detail: { measure: "cost" } })
    const types = await eventTypes(engine)
    expect(types.slice(types.indexOf("compaction.ended"))).not.toContain("step.started")
    expect(types.at(-1)).toBe("question.asked")
  })

  verifies("cap.nothing-left", async () => {
    await using scene = await openScene({ budget: { maxTurns: 1 }, answers: [{ text: "done" }] })
    const { engine, asked } = scene
    await engine.sessions.prompt(go)
    await engine.sessions.wait(sessionID)
    const { id } = await engine.sessions.prompt(go)
    const question = await questionIn(engine)
    await engine.sessions.cancel({ sessionID, id })
    await engine.questions.reply({ requestID: question.id, answer: "raise" })
    await untilEvent(engine, "unparked")
    await engine.sessions.wait(sessionID)
    expect([await standing(engine), asked.length]).toEqual([["idle", undefined], 1])
    expect(brokenLaws(await allEvents(engine))).toEqual([])
  })
})

describe("breakers", () => {
  const same: Answer = { tools: [{ name: "act", input: { same: true } }] }
  const countsIn = async (engine: Engine) =>
    (await allEvents(engine)).flatMap((event) =>
      event.type === "session.next.repetition.noticed.1" ? [event.data.count] : [],
    )

  verifies("breaker.repetition", async () => {
    let ran = 0
    await using scene = await openCompacting({
      answer: () => same,
      limits: { turnsPerActivity: 12 },
      tools: [
        tool("act", () => {
          ran += 1
          return LONG.slice(0, 25_000)
        }),
      ],
    })
    const { engine } = scene
    await engine.sessions.prompt(go)
    await engine.sessions.wait(sessionID)
    expect(ran).toBe(5)
    expect(await eventTypes(engine)).toContain("compaction.ended")
    expect((await countsIn(engine)).slice(0, 4)).toEqual([3, 4, 5, 6])
    expect(wasTold(scene.asked, "the same call for the 3th time in a row")).toBe(true)
  })

  verifies(
    "breaker.repetition",
    async () => {
      let ran = 0
      const held = gate()
      await using scene = await openScene({
        answers: Array.from({ length: 9 }, () => same),
        limits: { turnsPerActivity: 9 },
        tools: [
          tool("act", async () => {
            ran += 1
            if (ran === 4) await held.pass()
            return "the same"
          }),
        ],
      })
      await scene.engine.sessions.prompt(go)
      await held.reached
      const closing = scene.reopen()
      held.open()
      const engine = await closing
      await engine.sessions.run(sessionID).catch(() => undefined)
      expect([ran, (await countsIn(engine)).slice(0, 4)]).toEqual([5, [3, 4, 5, 6]])
    },
    "also over a restart",
  )

  verifies("breaker.poll", async () => {
    let ran = 0
    await using scene = await openScene({
      answers: [...Array.from({ length: 9 }, () => same), { text: "done" }],
      tools: [tool("act", () => `still waiting, looked ${(ran += 1)} times`)],
    })
    await scene.engine.sessions.prompt(go)
    await scene.engine.sessions.wait(sessionID)
    expect([ran, await countsIn(scene.engine)]).toEqual([9, []])
  })

  verifies("breaker.compactions", async () => {
    await using scene = await openCompacting({})
    const { engine } = scene
    await engine.sessions.prompt(go)
    const question = await questionIn(engine)
    expect(question).toMatchObject({ kind: "compaction", detail: { compactions: 5 } })
    const types = await eventTypes(engine)
    expect(types.filter((type) => type === "compaction.ended")).toHaveLength(5)
    expect(types.filter((type) => type === "warned")).toHaveLength(1)
    expect(wasTold(scene.asked, "Read less at a time")).toBe(true)
    // Even after a restart; and continuing gives five more.
    const again = await scene.reopen()
    await again.questions.reply({ requestID: question.id, answer: "continue" })
    await untilEvent(again, "question.asked", 2)
    expect((await eventTypes(again)).filter((type) => type === "compaction.ended")).toHaveLength(10)
    expect(brokenLaws(await allEvents(again))).toEqual([])
  })

  verifies("breaker.fill", async () => {
    let turns = 0
    await using scene = await openCompacting({
      result: "short",
      limits: { turnsPerActivity: 30 },
      answer: () => ({
        tools: [{ name: "act", input: { n: (turns += 1) } }],
        usage: { input: 1_000_000, output: 1 },
      }),
    })
    const { engine } = scene
    await engine.sessions.prompt(go)
    await engine.sessions.wait(sessionID)
    const types = await eventTypes(engine)
    expect([turns, types.filter((type) => type === "compaction.ended").length]).toEqual([29, 1])
  })

  verifies(
    "breaker.fill",
    async () => {
      let turns = 0
      await using scene = await openCompacting({
        result: "short",
        limits: { turnsPerActivity: 30 },
        answer: () => {
          turns += 1
          const isFull = turns === 3 || turns === 9
          const usage = { input: isFull ? 1_000_000 : 2_000, output: 1 }
          return turns < 15
            ? { tools: [{ name: "act", input: { n: turns } }], usage }
            : { text: "done", usage }
        },
      })
      const { engine } = scene
      await engine.sessions.prompt(go)
      await engine.sessions.wait(sessionID)
      const types = await eventTypes(engine)
      expect([turns, types.filter((type) => type === "compaction.ended").length]).toEqual([15, 2])
    },
    "one that has said something else since is believed again",
  )
})
