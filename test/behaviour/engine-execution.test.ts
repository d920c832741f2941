import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"

import { openEngine, type Engine } from "@meridian/engine"
import { describe, expect, test } from "vitest"

import {
  allEvents,
  codeOf,
  conversation,
  eventTypes,
  gate,
  openEngineScene,
  scriptedModel,
  shown,
  tool,
  untilEvent,
  type Answer,
} from "../engine-scene.ts"
import { verifies, verifiesOnFile } from "../verifies.ts"

type Requests = NonNullable<Parameters<typeof scriptedModel>[1]>

const sessionID = "ses_test"
const failing: Answer = { error: "auth" }
const callTool: Answer = { tools: [{ name: "act" }] }

/** An answer that waits until the test releases it. */
const held = (answer: Answer = { text: "held" }) => {
  const turn = gate()
  const reply: Answer = async (request) => {
    await turn.pass()
    return typeof answer === "function" ? answer(request) : answer
  }
  return { ...turn, reply }
}

describe("run and wake", () => {
  verifies("run.forced-attempt", async () => {
    await using scene = await openEngineScene()
    await scene.engine.sessions.run(sessionID)
    expect(scene.requests).toHaveLength(1)
    await scene.engine.sessions.run(sessionID)
    expect(scene.requests).toHaveLength(2)
  })

  verifies(
    "run.forced-attempt",
    async () => {
      await using scene = await openEngineScene([failing])
      const { sessions } = scene.engine
      expect(await codeOf(sessions.run(sessionID))).toBe("MODEL_FAILED")
      expect(await codeOf(sessions.run("ses_none"))).toBe("SESSION_NOT_FOUND")
    },
    "and rejects with its failure",
  )

  verifies("run.joins", async () => {
    const turn = held()
    await using scene = await openEngineScene([turn.reply])
    const { sessions } = scene.engine
    const runs = [sessions.run(sessionID), sessions.run(sessionID)]
    await turn.reached
    runs.push(sessions.run(sessionID))
    // On a server a run asks first how the session stands. What is asked behind it is answered behind it.
    for (let round = 0; round < 3; round += 1) await Promise.all([1, 2, 3].map(() => sessions.get(sessionID)))
    turn.open()
    await Promise.all(runs)
    expect(scene.requests).toHaveLength(1)
  })

  verifies("run.behind-wake", async () => {
    const turn = held()
    await using scene = await openEngineScene([turn.reply, failing])
    const { sessions } = scene.engine
    await sessions.prompt({ sessionID, prompt: { text: "one" } })
    await turn.reached
    const run = codeOf(sessions.run(sessionID))
    turn.open()
    expect(await run).toBe("MODEL_FAILED")
    expect(scene.requests).toHaveLength(2)
  })

  verifies(
    "run.behind-wake",
    async () => {
      const turn = held(failing)
      await using scene = await openEngineScene([turn.reply])
      const { sessions } = scene.engine
      await sessions.prompt({ sessionID, prompt: { text: "one" } })
      await turn.reached
      const run = sessions.run(sessionID)
      turn.open()
      await run
      expect(scene.requests).toHaveLength(2)
    },
    "the failure of the drain before it is not its own",
  )

  verifies("wake.needs-input", async () => {
    await using scene = await openEngineScene()
    const { sessions } = scene.engine
    await sessions.wake(sessionID)
    await sessions.wait(sessionID)
    expect(scene.requests).toHaveLength(0)
    expect(await eventTypes(scene.engine)).toEqual(["created"])
    expect(await codeOf(sessions.wake("ses_none"))).toBe("SESSION_NOT_FOUND")
  })

  verifies("wake.coalesces", async () => {
    const turn = held()
    await using scene = await openEngineScene([turn.reply])
    const { sessions } = scene.engine
    await sessions.prompt({ sessionID, prompt: { text: "one" } })
    await turn.reached
    for (let index = 0; index < 20; index += 1) await sessions.wake(sessionID)
    turn.open()
    await sessions.wait(sessionID)
    expect(scene.requests).toHaveLength(1)
  })
})

describe("wait", () => {
  verifies("wait.idle", async () => {
    await using scene = await openEngineScene([failing])
    const { sessions } = scene.engine
    await sessions.wait(sessionID)
    await sessions.prompt({ sessionID, prompt: { text: "one" } })
    expect(await codeOf(sessions.wait(sessionID))).toBe("MODEL_FAILED")
    await sessions.wait(sessionID)
    expect(await codeOf(sessions.wait("ses_none"))).toBe("SESSION_NOT_FOUND")
  })

  verifies(
    "wait.idle",
    async () => {
      await using scene = await openEngineScene(Array.from({ length: 50 }, () => failing))
      const { sessions } = scene.engine
      const outcomes: string[] = []
      for (let index = 0; index < 50; index += 1) {
        await sessions.prompt({ sessionID, prompt: { text: `${index}` } })
        outcomes.push(await codeOf(sessions.wait(sessionID)))
      }
      expect(outcomes).toEqual(Array.from({ length: 50 }, () => "MODEL_FAILED"))
    },
    "a failure right after the prompt is never missed",
  )

  verifies(
    "wait.idle",
    async () => {
      await using scene = await openEngineScene()
      const { sessions } = scene.engine
      const outcomes: string[] = []
      for (let index = 0; index < 20; index += 1) {
        const id = `ses_${index}`
        const directory = join(scene.directory, id)
        mkdirSync(directory)
        await sessions.create({ id, location: { directory } })
        rmSync(directory, { recursive: true })
        await sessions.prompt({ sessionID: id, prompt: { text: "nowhere" } })
        outcomes.push(await codeOf(sessions.wait(id)))
      }
      expect(outcomes).toEqual(Array.from({ length: 20 }, () => "LOCATION_NOT_FOUND"))
      expect(await sessions.inputs("ses_0")).toHaveLength(1)
      expect((await sessions.get("ses_0")).status).toBe("failed")
    },
    "nor one before the model was asked; the input stays pending",
  )

  verifies("wait.leaves", async () => {
    const turn = held({ text: "finished" })
    await using scene = await openEngineScene([turn.reply])
    const { sessions } = scene.engine
    await sessions.prompt({ sessionID, prompt: { text: "one" } })
    await turn.reached
    const controller = new AbortController()
    const leaving = [
      sessions.wait(sessionID, { signal: controller.signal }),
      sessions.run(sessionID, { signal: controller.signal }),
    ]
    controller.abort(new Error("left"))
    expect(await Promise.allSettled(leaving)).toMatchObject([
      { status: "rejected", reason: { message: "left" } },
      { status: "rejected", reason: { message: "left" } },
    ])
    expect(await sessions.active()).toEqual([sessionID])
    turn.open()
    await sessions.wait(sessionID)
    expect(await conversation(scene.engine)).toContain("assistant: finished")
  })

  verifies("execution.serial", async () => {
    const first = held({ text: "first" })
    let now = 0
    let most = 0
    const counted: Answer = async () => {
      now += 1
      most = Math.max(most, now)
      await new Promise((resolve) => setImmediate(resolve))
      now -= 1
      return { text: "counted" }
    }
    await using scene = await openEngineScene([first.reply, counted, counted, counted, counted])
    const { sessions } = scene.engine
    await sessions.create({ id: "ses_other", location: { directory: scene.directory } })
    await sessions.prompt({ sessionID, prompt: { text: "one" } })
    await first.reached
    const texts = ["a", "b", "c"]
    await Promise.all(
      texts.map((text) => sessions.prompt({ sessionID: "ses_other", prompt: { text }, delivery: "queue" })),
    )
    await sessions.wait("ses_other")
    expect(most).toBe(1)
    expect(await sessions.active()).toEqual([sessionID])
    first.open()
    await sessions.wait(sessionID)
    expect(await sessions.active()).toEqual([])
  })
})

describe("interrupt", () => {
  verifies("interrupt.settles", async () => {
    const acting = gate()
    const order: string[] = []
    await using scene = await openEngineScene([callTool], {
      tools: [
        tool("act", async (_input, { signal }) => {
          void acting.pass()
          await new Promise((resolve) => signal.addEventListener("abort", resolve))
          order.push("tool stopped")
          throw new Error("stopped")
        }),
      ],
    })
    const { sessions } = scene.engine
    await sessions.prompt({ sessionID, prompt: { text: "one" } })
    await acting.reached
    await sessions.interrupt(sessionID)
    order.push("interrupted")
    expect(order).toEqual(["tool stopped", "interrupted"])
    expect(await sessions.active()).toEqual([])
    expect(await conversation(scene.engine)).toEqual(["user: one", "act: error"])
    expect((await eventTypes(scene.engine)).slice(-2)).toEqual(["interrupt.requested", "tool.failed"])
  })

  verifiesOnFile("interrupt.boundary", async () => {
    const turn = held()
    await using scene = await openEngineScene([turn.reply])
    const { sessions } = scene.engine
    await sessions.prompt({ sessionID, prompt: { text: "one" } })
    await turn.reached
    await sessions.prompt({ sessionID, prompt: { text: "before" }, delivery: "queue" })
    const run = codeOf(sessions.run(sessionID))
    await sessions.interrupt(sessionID)
    expect(await run).toBe("INTERRUPTED")
    await sessions.wait(sessionID)
    expect(scene.requests).toHaveLength(1)
    expect(await eventTypes(scene.engine)).toContain("interrupt.requested")
    const reopened = await scene.reopen()
    await reopened.sessions.wait(sessionID)
    expect(scene.requests).toHaveLength(1)
    expect(await reopened.sessions.inputs(sessionID)).toHaveLength(1)
    await reopened.sessions.prompt({ sessionID, prompt: { text: "after" } })
    await reopened.sessions.wait(sessionID)
    expect(shown(scene.requests[1])).toEqual(["user: one", "user: after"])
    expect(shown(scene.requests[2])).toContain("user: before")
  })

  verifies(
    "interrupt.boundary",
    async () => {
      const acting = gate()
      const cleaning = gate()
      await using scene = await openEngineScene([callTool], {
        tools: [
          {
            name: "act",
            description: "waits",
            input: { type: "object" },
            execute: async (_input: never, { signal }) => {
              void acting.pass()
              await new Promise((resolve) => signal.addEventListener("abort", resolve))
              await cleaning.pass()
            },
          },
        ],
      })
      const { sessions } = scene.engine
      await sessions.prompt({ sessionID, prompt: { text: "one" } })
      await acting.reached
      const interrupted = sessions.interrupt(sessionID)
      await cleaning.reached
      await sessions.prompt({ sessionID, prompt: { text: "during" } })
      cleaning.open()
      await interrupted
      await sessions.wait(sessionID)
      expect(shown(scene.requests[1]).at(-1)).toBe("user: during")
    },
    "a prompt during the cleanup runs afterwards",
  )

  verifies("interrupt.keeps-inbox", async () => {
    const turn = held()
    await using scene = await openEngineScene([turn.reply])
    const { sessions } = scene.engine
    await sessions.prompt({ sessionID, prompt: { text: "one" } })
    await turn.reached
    await sessions.prompt({ id: "msg_2", sessionID, prompt: { text: "two" } })
    await sessions.interrupt(sessionID)
    expect(await sessions.inputs(sessionID)).toMatchObject([{ id: "msg_2" }])
    await sessions.wake(sessionID)
    await sessions.wait(sessionID)
    expect(shown(scene.requests[1])).toEqual(["user: one", "user: two"])
  })

  verifies("interrupt.idle", async () => {
    await using scene = await openEngineScene()
    await scene.engine.sessions.interrupt(sessionID)
    await scene.engine.sessions.interrupt("ses_none")
    expect(await eventTypes(scene.engine)).toEqual(["created"])
  })

  verifies(
    "interrupt.settles",
    async () => {
      const acting = Array.from({ length: 8 }, gate)
      let started = 0
      await using scene = await openEngineScene(
        [{ tools: Array.from({ length: 12 }, (_, number) => ({ name: "act", input: { number } })) }],
        { tools: [tool("act", () => acting[started++]?.pass(), { number: { type: "number" } })] },
      )
      const { sessions } = scene.engine
      await sessions.prompt({ sessionID, prompt: { text: "one" } })
      await Promise.all(acting.map(({ reached }) => reached))
      await untilEvent(scene.engine, "step.ended")
      await sessions.interrupt(sessionID)
      expect(started).toBe(8)
      const types = await eventTypes(scene.engine)
      expect(types.filter((type) => type === "tool.failed")).toHaveLength(12)
    },
    "also the calls that wait for a free slot",
  )

  test("an interrupted stream leaves what was seen, marked as partial", async () => {
    await using scene = await openEngineScene([{ text: "one two three four five six seven", hold: "middle" }])
    const { sessions } = scene.engine
    const live = sessions.live(sessionID)[Symbol.asyncIterator]()
    const first = live.next()
    await sessions.prompt({ sessionID, prompt: { text: "go" } })
    await first
    await sessions.interrupt(sessionID)
    const [, message] = (await sessions.messages({ sessionID })).items
    expect(message).toMatchObject({
      type: "assistant",
      content: [{ type: "text", partial: true }],
      error: { code: "INTERRUPTED" },
    })
    expect((await sessions.get(sessionID)).status).toBe("interrupted")
  })

  test("interrupting a pause between two tries ends the turn", async () => {
    await using scene = await openEngineScene([{ error: "overloaded" }], {
      retry: { attempts: 3, baseMs: 60_000 },
    })
    const { sessions } = scene.engine
    await sessions.prompt({ sessionID, prompt: { text: "go" } })
    await untilEvent(scene.engine, "retried")
    await sessions.interrupt(sessionID)
    expect((await eventTypes(scene.engine)).slice(-2)).toEqual(["interrupt.requested", "step.failed"])
  })
})

describe("the limit of turns", () => {
  const numbered = (count: number): readonly Answer[] =>
    Array.from({ length: count }, (_, number) => ({ tools: [{ name: "act", input: { number } }] }))
  const tools = [tool("act", () => "acted", { number: { type: "number" } })]

  verifies("turns.limit", async () => {
    await using scene = await openEngineScene(numbered(26), { tools })
    const { sessions } = scene.engine
    await sessions.prompt({ sessionID, prompt: { text: "go" } })
    expect(await codeOf(sessions.wait(sessionID))).toBe("TURN_LIMIT")
    expect(scene.requests).toHaveLength(25)
    expect((await eventTypes(scene.engine)).at(-1)).toBe("execution.failed")
    expect((await sessions.get(sessionID)).status).toBe("failed")
    await sessions.run(sessionID)
    expect(scene.requests).toHaveLength(27)
  })

  verifies(
    "turns.limit",
    async () => {
      await using scene = await openEngineScene(numbered(24), { tools })
      const { sessions } = scene.engine
      await sessions.prompt({ sessionID, prompt: { text: "go" } })
      await sessions.wait(sessionID)
      expect(scene.requests).toHaveLength(25)
    },
    "the 25th turn may be the last",
  )

  verifies(
    "turns.limit",
    async () => {
      await using scene = await openEngineScene(
        Array.from({ length: 4 }, () => callTool),
        { tools, limits: { turnsPerActivity: 1 } },
      )
      const { sessions } = scene.engine
      await sessions.prompt({ sessionID, prompt: { text: "go" } })
      expect(await codeOf(sessions.wait(sessionID))).toBe("TURN_LIMIT")
      expect(scene.requests).toHaveLength(1)
    },
    "it is the caller's to choose",
  )
})

test("after close every call says so", async () => {
  await using scene = await openEngineScene()
  const { engine } = scene
  const tail = engine.sessions.events({ sessionID, follow: true })[Symbol.asyncIterator]()
  expect((await tail.next()).value).toMatchObject({ seq: 1 })
  expect((await tail.next()).value).toMatchObject({ type: "synced" })
  const waiting = tail.next()
  await engine.close()
  expect((await waiting).done).toBe(true)
  expect(await codeOf(engine.sessions.get(sessionID))).toBe("ENGINE_CLOSED")
  expect(await codeOf(engine.sessions.prompt({ sessionID, prompt: { text: "x" } }))).toBe("ENGINE_CLOSED")
  await engine.close()
})

test("close settles what runs, and the session shows it", async () => {
  const acting = gate()
  await using scene = await openEngineScene([callTool], { tools: [tool("act", () => acting.pass())] })
  await scene.engine.sessions.prompt({ sessionID, prompt: { text: "go" } })
  await acting.reached
  const reopened = await scene.reopen()
  expect(await conversation(reopened)).toEqual(["user: go", "act: error"])
  expect(await reopened.sessions.active()).toEqual([])
})

test("one failed activity does not take along the inputs that wait behind it", async () => {
  await using scene = await openEngineScene([failing])
  const { sessions } = scene.engine
  for (const text of ["one", "two"])
    await sessions.prompt({ sessionID, prompt: { text }, delivery: "queue", resume: false })
  await sessions.wake(sessionID)
  expect(await codeOf(sessions.wait(sessionID))).toBe("MODEL_FAILED")
  await sessions.wait(sessionID)
  expect(scene.requests).toHaveLength(2)
  expect((await conversation(scene.engine)).at(-1)).toBe("assistant: done")
})

test("two calls with one id in a turn are two calls", async () => {
  let acts = 0
  await using scene = await openEngineScene(
    [
      {
        tools: [
          { name: "act", id: "same" },
          { name: "act", id: "same" },
        ],
      },
    ],
    { tools: [tool("act", () => (acts += 1))] },
  )
  await scene.engine.sessions.prompt({ sessionID, prompt: { text: "go" } })
  await scene.engine.sessions.wait(sessionID)
  expect(acts).toBe(2)
  const called = (await allEvents(scene.engine)).flatMap((event) =>
    event.type === "session.next.tool.called.1" ? [event.data.callID] : [],
  )
  expect(called).toEqual(["same", "same_2"])
})

test("a tool that succeeds although it was told to stop has succeeded", async () => {
  const acting = gate()
  await using scene = await openEngineScene([callTool], {
    tools: [
      tool("act", async (_input, { signal }) => {
        const stopped = new Promise((resolve) => signal.addEventListener("abort", resolve))
        void acting.pass()
        await stopped
        await new Promise((resolve) => setImmediate(resolve))
        return "cleaned up"
      }),
    ],
  })
  const { sessions } = scene.engine
  await sessions.prompt({ sessionID, prompt: { text: "go" } })
  await acting.reached
  await sessions.interrupt(sessionID)
  expect(await conversation(scene.engine)).toEqual(["user: go", "act: completed"])
})

test("a model that is switched while a turn is being prepared gets that turn", async () => {
  const [one, two]: [Requests, Requests] = [[], []]
  let observed = 0
  await using scene = await openEngineScene([], {
    models: [scriptedModel([], one), scriptedModel([], two, { id: "fake/two" })],
    context: [
      {
        key: "weather",
        observe: async () => {
          observed += 1
          if (observed === 1) await scene.engine.sessions.switchModel({ sessionID, model: "fake/two" })
          return "fine"
        },
        baseline: (value: string) => value,
      },
    ],
  })
  await scene.engine.sessions.prompt({ sessionID, prompt: { text: "go" } })
  await scene.engine.sessions.wait(sessionID)
  expect([one.length, two.length]).toEqual([0, 1])
})

test("a decision is made again on what another engine has appended meanwhile", async () => {
  await using scene = await openEngineScene()
  const other = await openEngine(scene.options)
  const admit = (engine: Engine, id: string) =>
    engine.sessions.prompt({ id, sessionID, prompt: { text: id }, resume: false })
  const receipts = [
    await admit(other, "msg_1"),
    await admit(scene.engine, "msg_2"),
    await admit(other, "msg_3"),
    await admit(scene.engine, "msg_4"),
  ]
  expect(receipts.map(({ admittedSeq }) => admittedSeq)).toEqual([2, 3, 4, 5])
  await other.close()
})
