import { startScriptedProvider } from "@meridian/testkit"
import { describe, expect, test } from "vitest"

import { openEngineWith } from "../../packages/engine/src/open-engine.ts"
import {
  allEvents,
  allMessages,
  codeOf,
  conversation,
  eventTypes,
  gate,
  openEngineScene,
  scriptedModel,
  short,
  shown,
  tool,
  untilEvent,
  type Answer,
} from "../engine-scene.ts"
import { testOnFile, verifies } from "../verifies.ts"

const sessionID = "ses_test"
const go = { sessionID, prompt: { text: "go" } }
const call = (name: string, input = {}, id?: string): Answer => ({
  tools: [{ name, input, ...(id === undefined ? {} : { id }) }],
})

describe("a turn", () => {
  verifies("turn.one-stream", async () => {
    await using scene = await openEngineScene([call("act"), { text: "end" }], {
      tools: [tool("act", () => "acted")],
    })
    await scene.engine.sessions.prompt(go)
    await scene.engine.sessions.wait(sessionID)
    expect(scene.requests.map(shown)).toEqual([["user: go"], ["user: go", "call: act", "result: acted"]])
    expect(await eventTypes(scene.engine)).toEqual([
      "created",
      "prompt.admitted",
      "epoch.started",
      "prompt.promoted",
      "step.started",
      "tool.called",
      "step.ended",
      "tool.success",
      "step.started",
      "text.ended",
      "step.ended",
    ])
  })

  verifies("usage.totals", async () => {
    const requests: never[] = []
    const usage = { input: 100, output: 30, cacheRead: 7, cacheWrite: 3, reasoning: 10 }
    const price = { input: 10, output: 20, cacheRead: 1, cacheWrite: 12 }
    await using scene = await openEngineScene([], {
      models: [
        scriptedModel(
          [
            { text: "a", usage },
            { text: "b", usage },
          ],
          requests,
          { price },
        ),
      ],
    })
    const { sessions } = scene.engine
    await sessions.run(sessionID)
    const [first] = await allMessages(scene.engine)
    const one = { input: 100, output: 20, reasoning: 10, cacheRead: 7, cacheWrite: 3 }
    const cost = (100 * 10 + 30 * 20 + 7 * 1 + 3 * 12) / 1_000_000
    expect(first).toMatchObject({ type: "assistant", usage: one })
    await sessions.run(sessionID)
    const session = await sessions.get(sessionID)
    expect(session.usage).toEqual({ input: 200, output: 40, reasoning: 20, cacheRead: 14, cacheWrite: 6 })
    expect(session.cost).toBeCloseTo(2 * cost, 12)
  })

  verifies("stream.unfinished", async () => {
    await using scene = await openEngineScene([{ text: "half a thought", unfinished: true }])
    const { sessions } = scene.engine
    await sessions.prompt(go)
    expect(await codeOf(sessions.wait(sessionID))).toBe("MODEL_FAILED")
    expect(scene.requests).toHaveLength(1)
    expect(await allMessages(scene.engine)).toMatchObject([
      { type: "user" },
      {
        type: "assistant",
        content: [{ type: "text", text: "half a thought" }],
        error: { code: "invalid-output" },
      },
    ])
    expect((await sessions.get(sessionID)).status).toBe("failed")
  })
})

describe("tool calls", () => {
  verifies("tool.recorded-first", async () => {
    await using scene = await openEngineScene([call("act", {}, "call_1")], {
      tools: [
        tool("act", async () => {
          const types = await eventTypes(scene.engine)
          return types.filter((type) => type === "tool.called").length
        }),
      ],
    })
    await scene.engine.sessions.prompt(go)
    await scene.engine.sessions.wait(sessionID)
    expect(shown(scene.requests[1])).toContain("result: 1")
  })

  verifies("tool.eager", async () => {
    const text = "and while it runs I go on talking, for as long as the test wants me to. "
    const provider = await startScriptedProvider({
      script: [
        {
          parts: [
            { type: "tool", name: "act" },
            { type: "text", text, times: 50 },
          ],
          hold: "middle",
        },
      ],
    })
    const acting = gate()
    await using scene = await openEngineScene([], {
      models: [
        {
          id: "fake/one",
          provider: "anthropic",
          baseURL: `${provider.url}/v1`,
          apiKey: "none",
          contextWindow: 200_000,
          maxOutput: 8_000,
        },
      ],
      tools: [tool("act", () => acting.pass())],
    })
    const { sessions } = scene.engine
    await sessions.prompt(go)
    await acting.reached
    expect((await eventTypes(scene.engine)).slice(-2)).toEqual(["step.started", "tool.called"])
    acting.open()
    await untilEvent(scene.engine, "tool.success")
    expect(await eventTypes(scene.engine)).not.toContain("step.ended")
    expect(provider.release()).toBe(1)
    await sessions.wait(sessionID)
    await provider.close()
  })

  verifies("tool.awaited", async () => {
    const gates = [gate(), gate(), gate()]
    await using scene = await openEngineScene(
      [{ tools: [0, 1, 2].map((number) => ({ name: "act", input: { number } })) }],
      {
        tools: [
          tool(
            "act",
            async ({ number }: { number: number }) => {
              await gates[number]?.pass()
              return `acted ${number}`
            },
            { number: { type: "number" } },
          ),
        ],
      },
    )
    const { sessions } = scene.engine
    await sessions.prompt(go)
    await Promise.all(gates.map(({ reached }) => reached))
    gates[2]?.open()
    gates[0]?.open()
    expect(scene.requests).toHaveLength(1)
    gates[1]?.open()
    await sessions.wait(sessionID)
    expect(shown(scene.requests[1]).slice(-3)).toEqual([
      "result: acted 0",
      "result: acted 1",
      "result: acted 2",
    ])
  })

  testOnFile("at most eight calls of a turn run at once, and a turn may make at most 64", async () => {
    let now = 0
    let most = 0
    let ran = 0
    await using scene = await openEngineScene(
      [{ tools: Array.from({ length: 70 }, (_, number) => ({ name: "act", input: { number } })) }],
      {
        tools: [
          tool(
            "act",
            async () => {
              now += 1
              ran += 1
              most = Math.max(most, now)
              await new Promise((resolve) => setImmediate(resolve))
              now -= 1
            },
            { number: { type: "number" } },
          ),
        ],
      },
    )
    await scene.engine.sessions.prompt(go)
    await scene.engine.sessions.wait(sessionID)
    expect({ most, ran }).toEqual({ most: 8, ran: 64 })
    const types = await eventTypes(scene.engine)
    expect(types.filter((type) => type === "tool.called")).toHaveLength(70)
    expect(types.filter((type) => type === "tool.failed")).toHaveLength(6)
  })

  verifies("tool.owner", async () => {
    await using scene = await openEngineScene(
      [call("act", { n: 1 }, "call_1"), call("act", { n: 2 }, "call_1")],
      {
        tools: [tool("act", ({ n }: { n: number }) => `acted ${n}`, { n: { type: "number" } })],
      },
    )
    await scene.engine.sessions.prompt(go)
    await scene.engine.sessions.wait(sessionID)
    const settled = (await allEvents(scene.engine)).flatMap((event) =>
      event.type === "session.next.tool.success.1" ? [event.data] : [],
    )
    expect(settled.map(({ callID }) => callID)).toEqual(["call_1", "call_1"])
    expect(new Set(settled.map(({ assistantMessageID }) => assistantMessageID)).size).toBe(2)
    const messages = await allMessages(scene.engine)
    expect(
      messages.flatMap((message) => (message.type === "assistant" ? message.content : [])),
    ).toMatchObject([
      { state: { status: "completed", content: [{ text: "acted 1" }] } },
      { state: { status: "completed", content: [{ text: "acted 2" }] } },
      { type: "text" },
    ])
  })

  verifies(
    "tool.owner",
    async () => {
      await using scene = await openEngineScene(
        [
          {
            tools: [
              { name: "act", id: "same", input: { n: 1 } },
              { name: "act", id: "same", input: { n: 2 } },
            ],
          },
        ],
        { tools: [tool("act", ({ n }: { n: number }) => `acted ${n}`, { n: { type: "number" } })] },
      )
      await scene.engine.sessions.prompt(go)
      await scene.engine.sessions.wait(sessionID)
      expect(shown(scene.requests[1]).slice(-2)).toEqual(["result: acted 1", "result: acted 2"])
    },
    "also when an id repeats within one turn",
  )

  verifies("tool.hosted-metadata", async () => {
    await using scene = await openEngineScene([
      { hosted: [{ query: "weather", id: "srv_1", results: [{ url: "http://a.test" }] }], text: "sunny" },
    ])
    const { sessions } = scene.engine
    await sessions.prompt(go)
    await sessions.wait(sessionID)
    const [, message] = await allMessages(scene.engine)
    expect(message).toMatchObject({
      content: [
        {
          type: "tool",
          hosted: true,
          metadata: { scripted: { side: "call", id: "srv_1" } },
          state: { status: "completed", metadata: { scripted: { side: "result", id: "srv_1" } } },
        },
        { type: "text", text: "sunny" },
      ],
    })
    await sessions.run(sessionID)
    const replayed = scene.requests[1]?.prompt.find(({ role }) => role === "assistant")
    expect(replayed?.content).toMatchObject([
      { type: "tool-call", providerExecuted: true, providerOptions: { scripted: { side: "call" } } },
      { type: "tool-result", providerOptions: { scripted: { side: "result" } } },
      { type: "text", text: "sunny" },
    ])
  })

  verifies("tool.malformed", async () => {
    let ran = 0
    await using scene = await openEngineScene(
      [
        {
          tools: [
            { name: "act", raw: '{"n": 1' },
            { name: "act", raw: "[1]" },
            { name: "act", input: { n: "one" } },
          ],
        },
      ],
      { tools: [tool("act", () => (ran += 1), { n: { type: "number" } })] },
    )
    await scene.engine.sessions.prompt(go)
    await scene.engine.sessions.wait(sessionID)
    expect(ran).toBe(0)
    const events = await allEvents(scene.engine)
    const failures = events.flatMap((event) =>
      event.type === "session.next.tool.failed.1" ? [event.data.error.code] : [],
    )
    expect(failures).toEqual(["invalid-input", "invalid-input", "invalid-input"])
    expect(events.find((event) => event.type === "session.next.tool.called.1")?.data).toMatchObject({
      raw: '{"n": 1',
    })
    expect(scene.requests).toHaveLength(2)
  })

  verifies("tool.unknown", async () => {
    await using scene = await openEngineScene([call("nothing")])
    await scene.engine.sessions.prompt(go)
    await scene.engine.sessions.wait(sessionID)
    expect(shown(scene.requests[1]).at(-1)).toMatch(/^result: There is no tool "nothing" here. Available: /)
  })

  verifies(
    "tool.unknown",
    async () => {
      let ran = false
      await using scene = await openEngineScene([call("hidden")], {
        tools: [
          tool("hidden", () => {
            ran = true
          }),
        ],
        permissions: [
          { action: "*", resource: "*", effect: "allow" },
          { action: "hidden", resource: "*", effect: "deny" },
        ],
      })
      await scene.engine.sessions.prompt(go)
      await scene.engine.sessions.wait(sessionID)
      expect(scene.requests[0]?.tools.map(({ name }) => name)).not.toContain("hidden")
      expect(shown(scene.requests[1]).at(-1)).toContain('There is no tool "hidden" here')
      expect(ran).toBe(false)
    },
    "also of one that exists but is not advertised",
  )

  verifies("tool.failure", async () => {
    await using scene = await openEngineScene([call("act"), { text: "I see" }], {
      tools: [
        tool("act", () => {
          throw new Error("the disk is on fire")
        }),
      ],
    })
    await scene.engine.sessions.prompt(go)
    await scene.engine.sessions.wait(sessionID)
    expect(shown(scene.requests[1]).at(-1)).toBe("result: the disk is on fire")
    expect(await conversation(scene.engine)).toEqual(["user: go", "act: error", "assistant: I see"])
  })

  verifies(
    "tool.failure",
    async () => {
      await using scene = await openEngineScene([call("act")], {
        tools: [tool("act", () => ({ circular: 1n }))],
      })
      await scene.engine.sessions.prompt(go)
      await scene.engine.sessions.wait(sessionID)
      expect(await conversation(scene.engine)).toContain("act: error")
    },
    "also an answer that is not JSON",
  )

  verifies("tool.repetition", async () => {
    let ran = 0
    await using scene = await openEngineScene(
      Array.from({ length: 7 }, () => call("act", { same: true })),
      { tools: [tool("act", () => `ran ${(ran += 1) > 0}`)] },
    )
    await scene.engine.sessions.prompt(go)
    await scene.engine.sessions.wait(sessionID)
    expect(ran).toBe(5)
    expect(shown(scene.requests[3]).at(-1)).toContain("same call for the 3th time")
    const counts = (await allEvents(scene.engine)).flatMap((event) =>
      event.type === "session.next.repetition.noticed.1" ? [event.data.count] : [],
    )
    expect(counts).toEqual([3, 4, 5, 6, 7])
  })

  verifies(
    "tool.repetition",
    async () => {
      let ran = 0
      const same = { name: "act", input: { same: true } }
      await using scene = await openEngineScene(
        [
          { tools: [same, same] },
          { tools: [same, same, same, same] },
          { tools: [{ name: "act", input: {} }, same, same] },
        ],
        { tools: [tool("act", () => `ran ${(ran += 1) > 0}`)] },
      )
      await scene.engine.sessions.prompt(go)
      await scene.engine.sessions.wait(sessionID)
      expect(ran).toBe(2 + 3 + 3)
      const counts = (await allEvents(scene.engine)).flatMap((event) =>
        event.type === "session.next.repetition.noticed.1" ? [event.data.count] : [],
      )
      expect(counts).toEqual([6, 3, 4, 5])
    },
    "also among calls that come together",
  )

  test("a call in between breaks the row of equal calls, also one that is refused", async () => {
    let ran = 0
    const same = { name: "act", input: { same: true } }
    await using scene = await openEngineScene(
      [{ tools: [same, same, same, same, same, { name: "act", raw: "{no" }, same] }],
      { tools: [tool("act", () => `ran ${(ran += 1)}`)] },
    )
    await scene.engine.sessions.prompt(go)
    await scene.engine.sessions.wait(sessionID)
    expect(ran).toBe(6)
  })

  testOnFile("what comes together is recorded in one commit, in its order", async () => {
    const answer: Answer = {
      parts: [
        { type: "text", text: "before" },
        { type: "tool", name: "act", input: { n: 1 } },
        { type: "text", text: "between" },
        { type: "tool", name: "act", input: { n: 2 } },
      ],
    }
    await using scene = await openEngineScene([answer, { text: "end" }], {
      tools: [tool("act", () => "acted")],
    })
    const lengths: number[] = []
    const engine = await openEngineWith(scene.options, {
      sqlite: {
        tap: (point, raw) => {
          if (point === "committed")
            lengths.push(Number(raw.prepare("select count(*) as length from event").get()?.["length"]))
        },
      },
    })
    await engine.sessions.prompt(go)
    await engine.sessions.wait(sessionID)
    await engine.close()
    const types = await eventTypes(scene.engine)
    const begun = types.indexOf("step.started") + 1
    expect(types.slice(begun, begun + 5)).toEqual([
      "text.ended",
      "tool.called",
      "text.ended",
      "tool.called",
      "step.ended",
    ])
    expect(lengths.find((length) => length > begun)).toBe(begun + 5)
  })

  test("calls started before the stream breaks are settled before the failure is told", async () => {
    const acting = gate()
    await using scene = await openEngineScene(
      [
        {
          parts: [
            { type: "tool", name: "act" },
            { type: "error", error: "server" },
          ],
        },
      ],
      {
        tools: [
          tool("act", async () => {
            await acting.pass()
            return "acted"
          }),
        ],
      },
    )
    const { sessions } = scene.engine
    await sessions.prompt(go)
    await acting.reached
    const outcome = codeOf(sessions.wait(sessionID))
    acting.open()
    expect(await outcome).toBe("MODEL_FAILED")
    expect((await eventTypes(scene.engine)).slice(-3)).toEqual(["tool.called", "tool.success", "step.failed"])
  })
})

describe("models and agents", () => {
  const two = (first: readonly Answer[], second: readonly Answer[] = []) => {
    const requests: Parameters<typeof shown>[0][] = []
    const record = (list: readonly Answer[], id: string) =>
      scriptedModel(
        list.map((answer) => (request) => {
          requests.push(request)
          return typeof answer === "function" ? answer(request) : answer
        }),
        [],
        { id },
      )
    return { requests, models: [record(first, "fake/one"), record(second, "fake/two")] }
  }

  verifies("switch.next-turn", async () => {
    const acting = gate()
    const { models } = two([call("act")], [{ text: "from two" }])
    await using scene = await openEngineScene([], {
      models,
      tools: [tool("act", () => acting.pass())],
    })
    const { sessions } = scene.engine
    await sessions.prompt(go)
    await acting.reached
    await sessions.switchModel({ sessionID, model: "fake/two" })
    await sessions.switchAgent({ sessionID, agent: "plan" })
    acting.open()
    await sessions.wait(sessionID)
    const assistants = (await allMessages(scene.engine)).filter(({ type }) => type === "assistant")
    expect(assistants).toMatchObject([
      { model: "fake/one", agent: "build", content: [{ tool: "act", state: { status: "completed" } }] },
      { model: "fake/two", agent: "plan", content: [{ text: "from two" }] },
    ])
    expect(await sessions.get(sessionID)).toMatchObject({ model: "fake/two", agent: "plan" })
  })

  test("a switch to what is not there is refused and recorded nowhere", async () => {
    await using scene = await openEngineScene()
    const { sessions } = scene.engine
    expect(await codeOf(sessions.switchModel({ sessionID, model: "no/model" }))).toBe("MODEL_NOT_FOUND")
    expect(await codeOf(sessions.switchAgent({ sessionID, agent: "nobody" }))).toBe("AGENT_NOT_FOUND")
    expect(await eventTypes(scene.engine)).toEqual(["created"])
  })

  verifies("native.same-model", async () => {
    const thinking: Answer = { reasoning: { text: "I think", signature: "sig_1" }, text: "said" }
    const { models, requests } = two([thinking, { text: "same" }, { text: "back" }], [{ text: "other" }])
    await using scene = await openEngineScene([], { models })
    const { sessions } = scene.engine
    const assistantOf = (index: number) =>
      requests[index]?.prompt.find(({ role }) => role === "assistant")?.content
    for (const model of ["fake/one", "fake/one", "fake/two", "fake/one"]) {
      await sessions.switchModel({ sessionID, model })
      await sessions.run(sessionID)
    }
    const native = [
      { type: "reasoning", text: "I think", providerOptions: { scripted: { signature: "sig_1" } } },
      { type: "text", text: "said" },
    ]
    expect(assistantOf(1)).toEqual(native)
    expect(assistantOf(2)).toEqual([
      { type: "text", text: "I think" },
      { type: "text", text: "said" },
    ])
    expect(assistantOf(3)).toEqual(native)
  })

  verifies("retry.recorded", async () => {
    await using scene = await openEngineScene([
      { error: "overloaded" },
      { error: { status: 429, message: "slow down", retryAfter: 0 } },
      { text: "at last" },
    ])
    const { sessions } = scene.engine
    await sessions.prompt(go)
    await sessions.wait(sessionID)
    expect(scene.requests).toHaveLength(3)
    const retried = (await allEvents(scene.engine)).filter((event) => short(event.type) === "retried")
    expect(retried).toMatchObject([
      { data: { attempt: 1, error: { code: "overloaded" } } },
      { data: { attempt: 2, error: { code: "rate" } } },
    ])
    expect(await conversation(scene.engine)).toEqual(["user: go", "assistant: at last"])
  })

  verifies(
    "retry.recorded",
    async () => {
      await using scene = await openEngineScene(
        Array.from({ length: 5 }, () => ({ error: "server" as const })),
      )
      const { sessions } = scene.engine
      await sessions.prompt(go)
      expect(await codeOf(sessions.wait(sessionID))).toBe("MODEL_FAILED")
      expect(scene.requests).toHaveLength(3)
      expect((await eventTypes(scene.engine)).slice(-3)).toEqual(["retried", "retried", "step.failed"])
    },
    "and then given up",
  )

  verifies(
    "retry.recorded",
    async () => {
      await using scene = await openEngineScene([
        { error: { status: 429, message: "slow down", headers: { "retry-after-ms": "40" } } },
      ])
      await scene.engine.sessions.prompt(go)
      await scene.engine.sessions.wait(sessionID)
      const retried = (await allEvents(scene.engine)).find((event) => short(event.type) === "retried")
      expect(retried).toMatchObject({ data: { delayMs: 40 } })
    },
    "never sooner than the provider asked",
  )

  verifies("retry.not-after-output", async () => {
    await using scene = await openEngineScene([{ text: "some words", error: "overloaded", inStream: true }])
    const { sessions } = scene.engine
    await sessions.prompt(go)
    expect(await codeOf(sessions.wait(sessionID))).toBe("MODEL_FAILED")
    expect(scene.requests).toHaveLength(1)
    expect(await conversation(scene.engine)).toEqual(["user: go", "assistant: some words"])
  })

  verifies("agent.default", async () => {
    let ran = false
    await using scene = await openEngineScene([call("act")], {
      tools: [
        tool("act", () => {
          ran = true
        }),
      ],
      agents: [
        {
          name: "build",
          prompt: "You are the builder.",
          permissions: [
            { action: "act", resource: "one", effect: "deny" },
            { action: "act", resource: "*", effect: "deny" },
            { action: "act", resource: "other", effect: "allow" },
          ],
        },
      ],
    })
    await scene.engine.sessions.prompt(go)
    await scene.engine.sessions.wait(sessionID)
    expect((await scene.engine.sessions.get(sessionID)).agent).toBe("build")
    expect(scene.requests[0]?.prompt[0]?.content).toContain("You are the builder.")
    expect(ran).toBe(false)
    expect(shown(scene.requests[1]).at(-1)).toMatch(/^result: Permission denied: act/)
  })
})
