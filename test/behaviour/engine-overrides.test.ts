/**
 * Rows 10 and 14 of the parity table: what a prompt changes about the requests of its work, and the value it may ask for.
 */
import { Failure, renderFailure, type AnswerFormat } from "@meridian/protocol"
import { describe, expect, test } from "vitest"

import {
  allEvents,
  allMessages,
  codeOf,
  eventTypes,
  gate,
  openEngineScene,
  scriptedModel,
  shown,
  tool,
  untilEvent,
  type Answer,
  type EngineScene,
} from "../engine-scene.ts"
import { verifies } from "../verifies.ts"

const sessionID = "ses_test"
const act = tool("act", () => "acted")
const call: Answer = { tools: [{ name: "act", input: {} }] }

type Wishes = Parameters<EngineScene["engine"]["sessions"]["prompt"]>[0]

const ask = async ({ engine }: EngineScene, more: Partial<Wishes> = {}): Promise<void> => {
  await engine.sessions.prompt({ sessionID, prompt: { text: "go" }, ...more })
  await engine.sessions.wait(sessionID)
}

const saidOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "no failure",
    (cause: unknown) => (cause instanceof Failure ? renderFailure(cause) : String(cause)),
  )

/** Everything in a request with the role system, except its opening. */
const remarks = ({ requests }: EngineScene, at = -1): readonly string[] =>
  (requests.at(at)?.prompt ?? [])
    .slice(2)
    .flatMap((message) => (message.role === "system" ? [message.content] : []))

const toolNames = ({ requests }: EngineScene, at = -1): readonly string[] =>
  (requests.at(at)?.tools ?? []).map(({ name }) => name)

describe("system text, tools and settings", () => {
  verifies("parity.prompt-overrides", async () => {
    await using scene = await openEngineScene([call, { text: "done" }], { tools: [act] })
    await ask(scene, {
      system: "Answer in rhyme.",
      tools: { bash: false },
      settings: { temperature: 0.5, maxOutputTokens: 100 },
    })
    for (const at of [0, 1]) {
      expect(remarks(scene, at)).toEqual(["Answer in rhyme."])
      expect(toolNames(scene, at)).not.toContain("bash")
      expect(scene.requests[at]?.settings).toEqual({ temperature: 0.5, maxOutputTokens: 100 })
    }
    // It comes after everything else, so the requests share all that is before it.
    expect(scene.requests[1]?.prompt.at(-1)).toEqual({ role: "system", content: "Answer in rhyme." })
    await ask(scene, { prompt: { text: "again" } })
    expect([remarks(scene), toolNames(scene).includes("bash"), scene.requests.at(-1)?.settings]).toEqual([
      [],
      true,
      { maxOutputTokens: 8_000 },
    ])
  })

  verifies(
    "parity.prompt-overrides",
    async () => {
      await using scene = await openEngineScene([], {
        tools: [act],
        agents: [{ name: "build", tools: ["read", "gr*"] }],
        permissions: [
          { action: "*", resource: "*", effect: "allow" },
          { action: "edit", resource: "*", effect: "deny" },
        ],
      })
      await ask(scene, { tools: { act: true, "*": false, "gr*": true, write: true } })
      // A tool's own name wins over a pattern, the longer pattern over the shorter one, and a denial over all of them.
      expect(toolNames(scene)).toEqual(["act", "grep"])
    },
    "tools go by name, then by the longest pattern, and nothing lifts a denial",
  )

  verifies(
    "parity.prompt-overrides",
    async () => {
      await using scene = await openEngineScene()
      const input = {
        id: "msg_one",
        sessionID,
        prompt: { text: "go" },
        system: "Be brief.",
        tools: { bash: false, read: true },
        settings: { effort: "low" },
      } as const
      const { sessions } = scene.engine
      const receipt = await sessions.prompt(input)
      expect(receipt).toMatchObject({ system: "Be brief.", tools: input.tools, settings: input.settings })
      const again = await sessions.prompt({ ...input, tools: { read: true, bash: false } })
      expect(again.admittedSeq).toBe(receipt.admittedSeq)
      for (const [change, field] of [
        [{ system: "Be long." }, "system"],
        [{ tools: { bash: false } }, "tools"],
        [{ settings: { effort: "high" } }, "settings"],
        [{ format: { type: "json", schema: { type: "object" } } }, "format"],
      ] as const)
        expect(await saidOf(sessions.prompt({ ...input, ...change }))).toContain(`with another ${field}.`)
    },
    "an exact retry has all of them, and any other is a conflict",
  )

  verifies(
    "parity.prompt-overrides",
    async () => {
      const wait = gate()
      await using scene = await openEngineScene(
        [{ tools: [{ name: "wait", input: {} }] }, { text: "both" }, { text: "later" }],
        { tools: [tool("wait", () => wait.pass())] },
      )
      const { sessions } = scene.engine
      await sessions.prompt({ sessionID, prompt: { text: "one" }, system: "First.", tools: { bash: false } })
      await wait.reached
      await sessions.prompt({ sessionID, prompt: { text: "two" }, system: "Second.", tools: { read: false } })
      wait.open()
      await sessions.wait(sessionID)
      expect(remarks(scene, 0)).toEqual(["First."])
      expect(remarks(scene, 1)).toEqual([
        expect.stringContaining("The user sent this while you were at work."),
        "First.\n\nSecond.",
      ])
      expect(toolNames(scene, 1)).not.toEqual(expect.arrayContaining(["bash", "read"]))
      await ask(scene, { prompt: { text: "three" } })
      expect(remarks(scene)).toEqual([expect.stringContaining("The user sent this")])
    },
    "a steer that joins adds its own, and all of them last until the work has settled",
  )

  verifies(
    "parity.prompt-overrides",
    async () => {
      const wait = gate()
      const slow: Answer = async () => {
        await wait.pass()
        return { text: "nearly done" }
      }
      await using scene = await openEngineScene([slow, { text: "done" }])
      const { sessions } = scene.engine
      await sessions.prompt({ sessionID, prompt: { text: "one" }, system: "First." })
      await wait.reached
      await sessions.prompt({ sessionID, prompt: { text: "two" } })
      wait.open()
      await sessions.wait(sessionID)
      expect(remarks(scene)).toEqual(["First."])
      await ask(scene, { prompt: { text: "three" } })
      expect(remarks(scene)).toEqual([])
    },
    "a steer sent during the last turn goes on with the work, and finds its overrides in force",
  )

  verifies(
    "parity.prompt-overrides",
    async () => {
      await using scene = await openEngineScene([{ error: "auth" }, { text: "done" }], { tools: [act] })
      await codeOf(ask(scene, { system: "Answer in rhyme.", tools: { bash: false } }))
      const engine = await scene.reopen()
      await engine.sessions.run(sessionID)
      expect([remarks(scene, 1), toolNames(scene, 1).includes("bash")]).toEqual([["Answer in rhyme."], false])
      // The work has settled by now, so running it once more is not part of it.
      await engine.sessions.run(sessionID)
      expect([remarks(scene, 2), toolNames(scene, 2).includes("bash")]).toEqual([[], true])
    },
    "work that goes on in another process goes on with them",
  )

  test("what cannot be meant is refused, and nothing is admitted", async () => {
    await using scene = await openEngineScene()
    const said = (more: object) =>
      saidOf(scene.engine.sessions.prompt({ sessionID, prompt: { text: "go" }, ...more }))
    for (const [more, words] of [
      [{ system: "x".repeat(200_001) }, "at most 200000 characters"],
      [{ system: 5 }, "`system` must be text"],
      [{ tools: { bash: "no" } }, "must be true or false"],
      [{ tools: ["bash"] }, "`tools` must be an object"],
      [{ tools: { "": true } }, "1 to 200 characters"],
      [{ settings: { temprature: 1 } }, "temprature"],
      [{ settings: { temperature: 9 } }, "a number from 0 to 2"],
      [{ settings: { options: { messages: [] } } }, "cannot set `messages`"],
      [{ format: "json" }, "`format` must be an object"],
      [{ format: { type: "xml", schema: {} } }, "json"],
      [{ format: { type: "json" } }, "`format.schema` is missing"],
    ] as const) {
      const message = await said(more)
      expect(message).toMatch(/^ERROR \[INVALID_INPUT\]/)
      expect(message).toContain(words)
    }
    expect(await scene.engine.sessions.inputs(sessionID)).toEqual([])
  })
})

const FORMAT: AnswerFormat = {
  type: "json",
  schema: {
    type: "object",
    properties: { verdict: { type: "string", enum: ["yes", "no"] }, count: { type: "integer" } },
    required: ["verdict"],
    additionalProperties: false,
  },
}
const give = (input: object): Answer => ({ tools: [{ name: "structured_output", input: { ...input } }] })

/** The values of all messages. */
const outputs = async ({ engine }: EngineScene): Promise<readonly unknown[]> =>
  (await allMessages(engine)).flatMap((message) =>
    message.type === "assistant" && "output" in message ? [message.output] : [],
  )

const typesBehind = async ({ engine }: EngineScene, type: string): Promise<readonly string[]> => {
  const types = await eventTypes(engine)
  return types.slice(types.indexOf(type))
}

describe("a value in a given form", () => {
  verifies("parity.structured-output", async () => {
    await using scene = await openEngineScene([call, give({ verdict: "yes", count: 2 })], { tools: [act] })
    await ask(scene, { format: FORMAT })
    expect(await outputs(scene)).toEqual([{ verdict: "yes", count: 2 }])
    expect(scene.requests).toHaveLength(2)
    const [first] = scene.requests
    expect(first?.mustCall).toBe(true)
    expect(first?.tools.at(-1)).toMatchObject({ name: "structured_output", input: FORMAT.schema })
    expect(toolNames(scene, 0)).toContain("act")
    expect(remarks(scene, 0)).toEqual([
      expect.stringContaining("call structured_output once with the result"),
    ])
    // The call ends the work: the model is not asked again.
    expect((await eventTypes(scene.engine)).slice(-3)).toEqual(["step.ended", "tool.success", "output.given"])
    expect((await scene.engine.sessions.get(sessionID)).status).toBe("idle")
    await ask(scene, { prompt: { text: "thanks" } })
    expect([toolNames(scene).includes("structured_output"), scene.requests.at(-1)?.mustCall]).toEqual([
      false,
      undefined,
    ])
  })

  verifies(
    "parity.structured-output",
    async () => {
      await using scene = await openEngineScene([give({ verdict: "maybe" }), give({ verdict: "no" })])
      await ask(scene, { format: FORMAT })
      expect(await outputs(scene)).toEqual([{ verdict: "no" }])
      expect(shown(scene.requests[1]).at(-1)).toMatch(/^result: The result does not fit: `verdict`/)
      expect(remarks(scene, 1)[0]).toContain("Your last answer was not taken")
      expect(await typesBehind(scene, "tool.failed")).toEqual([
        "tool.failed",
        "output.refused",
        "step.started",
        "tool.called",
        "step.ended",
        "tool.success",
        "output.given",
      ])
    },
    "one that does not fit is mended once",
  )

  verifies(
    "parity.structured-output",
    async () => {
      await using scene = await openEngineScene([give({ verdict: 1 }), give({}), { text: "after" }])
      const said = await saidOf(ask(scene, { format: FORMAT }))
      expect(said).toMatch(/^ERROR \[OUTPUT_INVALID\].*verdict.*Next: /s)
      expect(scene.requests).toHaveLength(2)
      expect((await scene.engine.sessions.get(sessionID)).status).toBe("failed")
      expect(await outputs(scene)).toEqual([])
      // Running it again gives it another attempt, again with one repair.
      await scene.engine.sessions.run(sessionID).catch(() => undefined)
      expect(scene.requests[2]?.mustCall).toBe(true)
    },
    "one that still does not fit ends the work with a code",
  )

  verifies(
    "parity.structured-output",
    async () => {
      await using scene = await openEngineScene([{ text: "It is yes." }, give({ verdict: "yes" })])
      await ask(scene, { format: FORMAT })
      expect(await outputs(scene)).toEqual([{ verdict: "yes" }])
      expect(remarks(scene, 1)[0]).toContain("it was words and no JSON")
    },
    "words instead of the call are no answer",
  )

  verifies(
    "parity.structured-output",
    async () => {
      await using scene = await openEngineScene([
        { text: 'Sure:\n```json\n{"verdict": "no"}\n```' },
        { text: '```json\n{"verdict": "no"}\n```' },
      ])
      await ask(scene, { format: FORMAT })
      expect(await outputs(scene)).toEqual([{ verdict: "no" }])
      expect(scene.requests).toHaveLength(2)
    },
    "words that are the value, and nothing else, are taken",
  )

  for (const [kind, schema, given, value] of [
    ["a list", { type: "array", items: { type: "string" } }, ["a"], ["a"]],
    ["a number", { type: "integer" }, 5, 5],
    [
      "one of several",
      { anyOf: [{ type: "null" }, { $ref: "#/$defs/x" }], $defs: { x: { type: "string" } } },
      null,
      null,
    ],
  ] as const)
    verifies(
      "parity.structured-output",
      async () => {
        await using scene = await openEngineScene([give({ value: given })])
        await ask(scene, { format: { type: "json", schema } })
        expect(await outputs(scene)).toEqual([value])
        expect(scene.requests[0]?.tools.at(-1)?.input).toMatchObject({ type: "object", required: ["value"] })
      },
      `the value may be ${kind}`,
    )

  verifies(
    "parity.structured-output",
    async () => {
      const requests: EngineScene["requests"] = []
      await using scene = await openEngineScene([], {
        models: [scriptedModel([call, { text: "that far" }], requests)],
        tools: [act],
        agents: [{ name: "build", steps: 2 }],
      })
      const said = await saidOf(ask(scene, { format: FORMAT }))
      expect(requests.map(({ tools }) => tools.map(({ name }) => name).includes("act"))).toEqual([
        true,
        false,
      ])
      expect(requests[1]?.tools.map(({ name }) => name)).toEqual(["structured_output"])
      expect(said).toContain("OUTPUT_INVALID")
    },
    "the last turn offers nothing but the way to give it",
  )

  verifies(
    "parity.structured-output",
    async () => {
      await using scene = await openEngineScene(
        [
          {
            tools: [
              { name: "structured_output", input: { verdict: "yes" } },
              { name: "act", input: {} },
            ],
          },
          { text: "never asked" },
        ],
        { tools: [act] },
      )
      await ask(scene, { format: FORMAT })
      expect(scene.requests).toHaveLength(1)
      expect((await eventTypes(scene.engine)).filter((type) => type.startsWith("tool."))).toHaveLength(4)
      expect((await scene.engine.sessions.get(sessionID)).status).toBe("idle")
    },
    "it ends the work, whatever was called beside it",
  )

  verifies(
    "parity.structured-output",
    async () => {
      const wait = gate()
      const slow: Answer = async () => {
        await wait.pass()
        return { tools: [{ name: "structured_output", input: { verdict: "no" } }] }
      }
      await using scene = await openEngineScene([slow, give({ verdict: "yes" })])
      const { sessions } = scene.engine
      await sessions.prompt({ sessionID, prompt: { text: "one" }, format: FORMAT })
      await wait.reached
      await sessions.prompt({ sessionID, prompt: { text: "look again" } })
      wait.open()
      await sessions.wait(sessionID)
      expect(await outputs(scene)).toEqual([{ verdict: "no" }, { verdict: "yes" }])
    },
    "a steer sent meanwhile goes on with the work, which is to end with a value still",
  )

  verifies(
    "parity.structured-output",
    async () => {
      await using scene = await openEngineScene([call, { error: "auth" }, give({ verdict: "yes" })], {
        tools: [act],
      })
      await codeOf(ask(scene, { format: FORMAT }))
      const engine = await scene.reopen()
      await engine.sessions.run(sessionID)
      expect(scene.requests[2]?.mustCall).toBe(true)
      const given = (await allEvents(engine)).filter(({ type }) => type === "session.next.output.given.1")
      expect(given.map(({ data }) => data)).toEqual([
        { assistantMessageID: expect.any(String), value: { verdict: "yes" } },
      ])
    },
    "work that goes on in another process is to end with it still",
  )

  verifies(
    "parity.structured-output",
    async () => {
      await using scene = await openEngineScene([give({ verdict: "yes" })])
      await ask(scene, { format: FORMAT })
      const fork = await scene.engine.sessions.fork({ sessionID, id: "ses_fork" })
      const message = (await allMessages(scene.engine, fork.id)).at(-1)
      expect(message).toMatchObject({ type: "assistant", output: { verdict: "yes" } })
    },
    "a fork has it",
  )

  test("a schema nobody could check by is refused with the place", async () => {
    await using scene = await openEngineScene()
    const deep = (levels: number): object => (levels === 0 ? {} : { properties: { x: deep(levels - 1) } })
    const both = (at: number) => ({ anyOf: [{ $ref: `#/$defs/d${at}` }, { $ref: `#/$defs/d${at}` }] })
    const parts = Array.from({ length: 25 }, (_, at) => [`d${at}`, at === 24 ? {} : both(at + 1)])
    for (const [schema, words] of [
      [[], "`format.schema` must be an object"],
      [{ type: "banana" }, "must have the name of a type at `type`"],
      [{ properties: [] }, "must have an object at `properties`"],
      [{ properties: { a: 5 } }, "has no schema at `properties/a`"],
      [{ required: "a" }, "a list of names at `required`"],
      [{ enum: [] }, "must have a list at `enum`"],
      [{ anyOf: [] }, "must have a list at `anyOf`"],
      [{ pattern: "(" }, "an invalid pattern at `pattern`"],
      [{ minLength: -1 }, "a whole number at `minLength`"],
      [{ $ref: "#/$defs/nothing" }, "refers to #/$defs/nothing, which is not there"],
      [{ $ref: "https://example.com/x" }, "besides its own `$defs`"],
      [{ $ref: "#/$defs/a", $defs: { a: { items: { $ref: "#/$defs/a" } } } }, "refers to itself"],
      [{ description: "x".repeat(70_000) }, "is longer than 65536 characters"],
      [deep(40), "levels"],
      [{ $ref: "#/$defs/d0", $defs: Object.fromEntries(parts) }, "referred to too often"],
    ] as const) {
      const wrong: object = { format: { type: "json", schema } }
      const said = await saidOf(scene.engine.sessions.prompt({ sessionID, prompt: { text: "go" }, ...wrong }))
      expect(said).toMatch(/^ERROR \[INVALID_INPUT\]/)
      expect(said).toContain(words)
    }
    expect(await scene.engine.sessions.inputs(sessionID)).toEqual([])
  })

  test("words cut off by an interrupt are not looked at as the value", async () => {
    await using scene = await openEngineScene([{ text: '{"verdict": "yes"}', hold: "middle" }])
    const { sessions } = scene.engine
    await sessions.prompt({ sessionID, prompt: { text: "go" }, format: FORMAT })
    await untilEvent(scene.engine, "step.started")
    await sessions.interrupt(sessionID)
    expect(await outputs(scene)).toEqual([])
    expect(await eventTypes(scene.engine)).not.toContain("output.refused")
  })
})
