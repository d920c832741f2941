/** Rows 7, 11 and 13 of the parity table: what an agent and a variant decide about a request. */
import type { AgentConfig, EngineOptions } from "@meridian/engine"
import { openEngine } from "@meridian/engine"
import { Failure, renderFailure } from "@meridian/protocol"
import { describe, expect, test } from "vitest"

import {
  allEvents,
  codeOf,
  conversation,
  eventTypes,
  openEngineScene,
  scriptedModel,
  shown,
  tool,
  type Answer,
  type EngineScene,
} from "../engine-scene.ts"
import { verifies } from "../verifies.ts"

const sessionID = "ses_test"
const call: Answer = { tools: [{ name: "act", input: {} }] }
const calls = (count: number): readonly Answer[] =>
  Array.from({ length: count }, (_unused, n) => ({ tools: [{ name: "act", input: { n } }] }))
const act = tool("act", () => "acted")

const saidOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "no failure",
    (cause: unknown) => (cause instanceof Failure ? renderFailure(cause) : String(cause)),
  )

const ask = async ({ engine }: EngineScene, text = "go"): Promise<void> => {
  await engine.sessions.prompt({ sessionID, prompt: { text } })
  await engine.sessions.wait(sessionID)
}

/** Everything in a request with the role system, except its opening. */
const remarks = ({ requests }: EngineScene, at = -1): readonly string[] =>
  (requests.at(at)?.prompt ?? [])
    .slice(2)
    .flatMap((message) => (message.role === "system" ? [message.content] : []))

const withAgent = (agent: AgentConfig, answers: readonly Answer[] = [], more: Partial<EngineOptions> = {}) =>
  openEngineScene(answers, { agents: [agent], tools: [act], ...more })

describe("tools", () => {
  verifies("agent.tools", async () => {
    await using scene = await withAgent({ name: "build", tools: ["read", "g*"] }, [call])
    await ask(scene)
    expect(scene.requests[0]?.tools.map(({ name }) => name)).toEqual(["glob", "grep", "read"])
    expect(shown(scene.requests[1]).at(-1)).toMatch(/^result: There is no tool "act" here/)
  })

  verifies(
    "agent.tools",
    async () => {
      await using scene = await withAgent({ name: "build", tools: [] })
      await ask(scene)
      expect(scene.requests[0]?.tools).toEqual([])
    },
    "an empty list offers none",
  )

  verifies(
    "agent.tools",
    async () => {
      await using scene = await withAgent({
        name: "build",
        tools: ["*"],
        permissions: [{ action: "act", resource: "*", effect: "deny" }],
      })
      await ask(scene)
      expect(scene.requests[0]?.tools.map(({ name }) => name)).not.toContain("act")
    },
    "what is denied stays denied",
  )
})

describe("steps", () => {
  verifies("agent.steps", async () => {
    await using scene = await withAgent({ name: "build", steps: 3 }, [...calls(2), { text: "that far" }])
    await ask(scene)
    expect(scene.requests.map(({ tools }) => tools.length > 0)).toEqual([true, true, false])
    expect([remarks(scene, 1), remarks(scene, 2)]).toEqual([
      [],
      [expect.stringContaining("the last turn you have for this work")],
    ])
    expect(await conversation(scene.engine)).toEqual([
      "user: go",
      "act: completed",
      "act: completed",
      "assistant: that far",
    ])
    expect((await scene.engine.sessions.get(sessionID)).status).toBe("idle")
    await ask(scene, "again")
    // The reminder was for one request. It is gone, and the tools are back.
    expect([remarks(scene), scene.requests.at(-1)?.tools.length]).toEqual([
      [],
      scene.requests[0]?.tools.length,
    ])
  })

  verifies(
    "agent.steps",
    async () => {
      await using scene = await withAgent({ name: "build", steps: 2 }, calls(4))
      await scene.engine.sessions.prompt({ sessionID, prompt: { text: "go" } })
      const failed = await saidOf(scene.engine.sessions.wait(sessionID))
      expect(failed).toContain("made 2 provider turns")
      expect(scene.requests).toHaveLength(2)
      expect(shown(scene.requests[1]).at(-1)).toBe("result: acted")
      const outcomes = (await allEvents(scene.engine)).filter(({ type }) =>
        /tool\.(success|failed)/.test(type),
      )
      expect(outcomes.map(({ type }) => type)).toEqual([
        "session.next.tool.success.1",
        "session.next.tool.failed.1",
      ])
      // Running it again gives it its steps again.
      await codeOf(scene.engine.sessions.run(sessionID))
      expect(scene.requests).toHaveLength(4)
    },
    "a model that calls tools all the same has run out of turns",
  )

  verifies(
    "agent.steps",
    async () => {
      await using scene = await withAgent({ name: "build", steps: 3 }, [
        ...calls(1),
        { hold: true },
        ...calls(3),
      ])
      const { sessions } = scene.engine
      await sessions.prompt({ sessionID, prompt: { text: "go" } })
      for await (const event of sessions.events({ sessionID, follow: true }))
        if (event.type === "session.next.step.started.1" && scene.requests.length === 2) break
      const reopened = await scene.reopen()
      // The first turn counts and the one that was cut off does not, so two are left.
      expect(await codeOf(reopened.sessions.run(sessionID))).toBe("TURN_LIMIT")
      expect(scene.requests.map(({ tools }) => tools.length > 0)).toEqual([true, true, true, false])
    },
    "those taken before a process ended count",
  )
})

describe("who may be chosen", () => {
  const agents: readonly AgentConfig[] = [
    { name: "helper", mode: "sub" },
    { name: "secret", hidden: true },
  ]

  verifies("agent.modes", async () => {
    await using scene = await openEngineScene([], { agents })
    const { sessions } = scene.engine
    expect(await codeOf(sessions.switchAgent({ sessionID, agent: "helper" }))).toBe("AGENT_NOT_PRIMARY")
    const location = { directory: scene.directory }
    expect(await codeOf(sessions.create({ location, agent: "helper" }))).toBe("AGENT_NOT_PRIMARY")
    expect(await eventTypes(scene.engine)).toEqual(["created"])
    await sessions.switchAgent({ sessionID, agent: "secret" })
    const failure = await saidOf(sessions.switchAgent({ sessionID, agent: "nobody" }))
    expect(failure).toContain("build, plan")
    expect(failure).not.toMatch(/helper|secret/)
  })
})

describe("settings", () => {
  const EACH = {
    temperature: 0.25,
    topP: 0.5,
    maxOutputTokens: 100,
    effort: "high",
    options: { seed: 7 },
  } as const

  test("reach the model, the more special ones first", async () => {
    const requests: EngineScene["requests"] = []
    const variants = { deep: { effort: "max", options: { store: { keep: true } } } } as const
    await using scene = await openEngineScene([], {
      models: [scriptedModel([], requests, { variants })],
      agents: [{ name: "build", ...EACH, settings: { temperature: 1 }, model: "fake/one:deep" }],
    })
    await ask(scene)
    expect(requests[0]?.settings).toEqual({
      ...EACH,
      effort: "max",
      options: { seed: 7, store: { keep: true } },
    })
  })

  verifies(
    "parity.request-settings",
    async () => {
      const requests: EngineScene["requests"] = []
      const variants = { deep: { effort: "high" }, quick: { effort: "low" } } as const
      await using scene = await openEngineScene([], {
        models: [scriptedModel([], requests, { variants })],
        model: "fake/one:quick",
      })
      await ask(scene)
      await scene.engine.sessions.switchModel({ sessionID, model: "fake/one:deep" })
      await ask(scene)
      await scene.reopen()
      await ask(scene)
      expect(requests.map(({ settings }) => settings?.effort)).toEqual(["low", "high", "high"])
      const steps = (await allEvents(scene.engine)).filter(
        ({ type }) => type === "session.next.step.started.1",
      )
      expect(steps).toMatchObject([
        { data: { model: "fake/one", variant: "quick" } },
        { data: { model: "fake/one", variant: "deep" } },
        { data: { model: "fake/one", variant: "deep" } },
      ])
    },
    "a variant is chosen durably, and native data stays with the model",
  )

  test("an output of their own makes no more room than the model has", async () => {
    const requests: EngineScene["requests"] = []
    await using scene = await openEngineScene([], {
      models: [scriptedModel([], requests)],
      agents: [{ name: "build", maxOutputTokens: 1_000_000 }],
    })
    await ask(scene)
    expect(requests[0]?.settings?.maxOutputTokens).toBe(8_000)
  })

  test("a variant nobody knows is refused with those there are", async () => {
    const variants = { deep: { effort: "high" } } as const
    await using scene = await openEngineScene([], { models: [scriptedModel([], [], { variants })] })
    const refused = await saidOf(scene.engine.sessions.switchModel({ sessionID, model: "fake/one:deeep" }))
    expect(refused).toContain("use one of: fake/one:deep.")
  })
})

describe("a switch of agents", () => {
  verifies(
    "parity.reminders",
    async () => {
      await using scene = await openEngineScene([], {
        agents: [{ name: "poet", description: "Writes verse." }],
      })
      const { sessions } = scene.engine
      await ask(scene)
      await sessions.switchAgent({ sessionID, agent: "plan" })
      await ask(scene, "plan it")
      expect(remarks(scene)).toEqual([
        expect.stringMatching(/agent plan .* no longer as build.*change nothing/s),
      ])
      await sessions.switchAgent({ sessionID, agent: "build" })
      await ask(scene, "do it")
      expect(remarks(scene).slice(1)).toEqual([
        expect.stringMatching(/agent build .*carry out what was planned/s),
      ])
      await sessions.switchAgent({ sessionID, agent: "poet" })
      await scene.reopen()
      await ask(scene, "rhyme")
      expect(remarks(scene).slice(2)).toEqual([expect.stringMatching(/agent poet .*: Writes verse\./)])
      const before = scene.requests.at(-1)?.prompt ?? []
      await ask(scene, "once more")
      // What was told once stays in its place.
      expect(scene.requests.at(-1)?.prompt.slice(0, before.length)).toEqual(before)
    },
    "a switch is told once, in its place, also after a reopen",
  )

  test("there and back between two turns is no switch", async () => {
    await using scene = await openEngineScene()
    await ask(scene)
    await scene.engine.sessions.switchAgent({ sessionID, agent: "plan" })
    await scene.engine.sessions.switchAgent({ sessionID, agent: "build" })
    await ask(scene)
    expect(remarks(scene)).toEqual([])
  })

  verifies(
    "parity.reminders",
    async () => {
      await using scene = await openEngineScene([...calls(1), { text: "so far" }], {
        tools: [act],
        limits: { turnsPerActivity: 2 },
      })
      await ask(scene)
      expect(remarks(scene)).toEqual([expect.stringContaining("the last turn")])
      expect((await scene.engine.sessions.get(sessionID)).status).toBe("idle")
    },
    "the last turn before the limit ends in words",
  )
})

describe("wrong ones", () => {
  const model = { id: "a/one", provider: "scripted", contextWindow: 1_000, maxOutput: 100 } as const
  const agent = (more: object): object => ({ agents: [{ name: "x", ...more }] })
  const circle: Record<string, unknown> = {}
  circle["self"] = circle

  const BAD: readonly (readonly [string, object, RegExp])[] = [
    [
      "a temperature of 3",
      agent({ temperature: 3 }),
      /Agent "x": `temperature` must be a number from 0 to 2/,
    ],
    ["a setting nobody knows", agent({ settings: { topK: 3 } }), /Agent "x": .*topK/],
    ["a field nobody knows", agent({ step: 3 }), /Agent "x": .*step.*steps/],
    ["no steps at all", agent({ steps: 0 }), /`steps`/],
    ["another mode", agent({ mode: "both" }), /primary, sub, all/],
    ["options that refer to themselves", agent({ options: circle }), /`options` has more than 16 levels/],
    ["options with a function", agent({ options: { go: () => 1 } }), /`options` holds a function/],
    ["options that are huge", agent({ options: { text: "x".repeat(20_000) } }), /longer than 16384/],
    ["options that replace the messages", agent({ options: { messages: [] } }), /cannot set `messages`/],
    ["a variant with a colon", { models: [{ ...model, variants: { "a:b": {} } }] }, /cannot be called "a:b"/],
    ["a variant that is a text", { models: [{ ...model, variants: { a: "x" } }] }, /variant a/],
    ["variants that are a list", { models: [{ ...model, variants: [] }] }, /`variants` must be/],
  ]

  verifies("agent.refused", async () => {
    const said = await Promise.all(
      BAD.map(async ([what, options]) => {
        const opening = openEngine({ database: ":memory:", models: [model], ...options })
        return `${what}: ${await codeOf(opening)}: ${await saidOf(opening)}`
      }),
    )
    expect(said).toEqual(
      BAD.map(([what, , says]) => expect.stringMatching(RegExp(`^${what}: INVALID_INPUT: .*${says.source}`))),
    )
  })
})
