/** One contract for every model: four wire formats over loopback HTTP, and the scripted one in the process. */
import { startScriptedProvider, type ScriptedProvider } from "@meridian/testkit"
import { afterEach, describe, expect, test } from "vitest"

import { realTime } from "../../../../test/real-time.ts"
import { ModelFailure, type Model, type ModelEvent, type ModelRequest } from "../port/model.ts"
import { PROVIDERS, type ProviderName } from "./config.ts"
import { openModel } from "./open-model.ts"
import type { FaultName, ScriptStep } from "./script.ts"

const NOW = Date.parse("2026-01-01T00:00:00Z")
const KEY = "sk-test-0123456789abcdef"

const running: ScriptedProvider[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((provider) => provider.close()))
})

const open = async (name: ProviderName, script: readonly ScriptStep[]): Promise<Model> => {
  const config = { id: "fake/claude-one", contextWindow: 200_000, maxOutput: 8_000 }
  if (name === "scripted")
    return openModel({ ...config, provider: name, script }, { ...realTime, now: () => NOW })
  const provider = await startScriptedProvider({ script })
  running.push(provider)
  const address = { baseURL: `${provider.url}/v1`, apiKey: KEY }
  return openModel({ ...config, ...address, provider: name }, { ...realTime, now: () => NOW })
}

const REQUEST: ModelRequest = {
  sessionID: "ses_1",
  prompt: [
    { role: "system", content: "You are helpful." },
    { role: "user", content: [{ type: "text", text: "hello" }] },
  ],
  tools: [{ name: "read", description: "Reads a file", input: { type: "object", properties: {} } }],
}

const collect = async (
  model: Model,
  signal = new AbortController().signal,
): Promise<readonly ModelEvent[]> => {
  const events: ModelEvent[] = []
  for await (const event of model.stream(REQUEST, signal)) events.push(event)
  return events
}

const failureOf = async (model: Model): Promise<ModelFailure["facts"]> => {
  const error = await collect(model).then(
    () => undefined,
    (cause: unknown) => cause,
  )
  if (!(error instanceof ModelFailure)) throw new Error("expected a ModelFailure", { cause: error })
  return error.facts
}

const textOf = (events: readonly ModelEvent[]): string =>
  events.map((event) => (event.type === "text-delta" ? event.delta : "")).join("")

const shapeOf = (events: readonly ModelEvent[]): readonly string[] =>
  events.map(({ type }) => type).filter((type, at, all) => type !== all[at - 1])

describe.each(PROVIDERS)("a model of provider %s", (name) => {
  test("streams text between its start and its end, and finishes with five counters", async () => {
    const usage = { input: 100, output: 30, cacheRead: 40, reasoning: 10 }
    const model = await open(name, [{ text: "abcdefghij", chunks: 5, usage }])
    const events = await collect(model)
    expect(shapeOf(events)).toEqual(["text-start", "text-delta", "text-end", "finish"])
    expect(textOf(events)).toBe("abcdefghij")
    expect(events.filter(({ type }) => type === "text-delta")).toHaveLength(5)
    expect(events.at(-1)).toMatchObject({
      type: "finish",
      reason: "stop",
      usage:
        name === "anthropic" // does not report thinking separately
          ? { input: 100, output: 30, reasoning: 0, cacheRead: 40, cacheWrite: 0 }
          : { input: 100, output: 20, reasoning: 10, cacheRead: 40, cacheWrite: 0 },
    })
  })

  test("streams reasoning before the text", async () => {
    const model = await open(name, [{ reasoning: "thinking it over", text: "done" }])
    const events = await collect(model)
    expect(shapeOf(events)).toEqual([
      "reasoning-start",
      "reasoning-delta",
      "reasoning-end",
      "text-start",
      "text-delta",
      "text-end",
      "finish",
    ])
    const reasoning = events.map((event) => (event.type === "reasoning-delta" ? event.delta : "")).join("")
    expect(reasoning).toBe("thinking it over")
  })

  test("reports several tool calls with their input as the model wrote it", async () => {
    const model = await open(name, [
      {
        text: "looking",
        tools: [
          { name: "read", id: "first", input: { path: "a/rather/long/path/to/a/file.txt" } },
          { name: "read", id: "second", raw: '{"path": "unfinished' },
        ],
      },
    ])
    const events = await collect(model)
    expect(events.filter(({ type }) => type === "tool-call")).toMatchObject([
      {
        id: "first",
        name: "read",
        input: '{"path":"a/rather/long/path/to/a/file.txt"}',
        providerExecuted: false,
      },
      { id: "second", name: "read", input: '{"path": "unfinished', providerExecuted: false },
    ])
    // Parts are recorded when they end, so a text must end before the call that follows it.
    const types = events.map(({ type }) => type)
    expect(types.indexOf("text-end")).toBeLessThan(types.indexOf("tool-input-start"))
    const typed = events.map((event) =>
      event.type === "tool-input-delta" && event.id === "second" ? event.delta : "",
    )
    expect(typed.join("")).toBe('{"path": "unfinished')
    expect(events.at(-1)).toMatchObject({ type: "finish", reason: "tool-calls" })
  })

  test("ends after finish, with the reason of the provider", async () => {
    const model = await open(name, [
      { text: "cut short", finish: "length" },
      { text: "no", finish: "content-filter" },
    ])
    expect((await collect(model)).at(-1)).toMatchObject({ type: "finish", reason: "length" })
    expect((await collect(model)).at(-1)).toMatchObject({ type: "finish", reason: "content-filter" })
  })

  const FAULTS: readonly (readonly [FaultName, ModelFailure["facts"]["kind"]])[] = [
    ["context-overflow", "overflow"],
    ["rate-limit", "rate"],
    ["quota", "authentication"],
    ["overloaded", "overloaded"],
    ["auth", "authentication"],
    ["forbidden", "authentication"],
    ["content", "content"],
    ["not-found", "invalid-request"],
    ["server", "overloaded"],
  ]
  test.each(FAULTS)("turns the fault %s into the kind %s", async (fault, kind) => {
    expect(await failureOf(await open(name, [{ error: fault }]))).toMatchObject({ kind })
  })

  test.each(FAULTS.filter(([fault]) => !["forbidden", "not-found"].includes(fault)))(
    "turns the fault %s in the middle of a stream into the kind %s",
    async (fault, kind) => {
      const model = await open(name, [{ text: "so far so good", error: fault, inStream: true }])
      expect(await failureOf(model)).toMatchObject({ kind })
    },
  )

  test("honours retry-after in seconds and as a date", async () => {
    const limited = {
      status: 429,
      code: "rate_limit_exceeded",
      type: "rate_limit_error",
      message: "slow down",
    }
    const model = await open(name, [
      { error: { ...limited, retryAfter: 7 } },
      { error: { ...limited, retryAfter: "Thu, 01 Jan 2026 00:00:30 GMT" } },
    ])
    expect(await failureOf(model)).toEqual({
      kind: "rate",
      status: 429,
      message: "slow down",
      retryAfterMs: 7_000,
    })
    expect(await failureOf(model)).toMatchObject({ kind: "rate", retryAfterMs: 30_000 })
  })

  test("fails as transport when the connection breaks in the middle", async () => {
    const model = await open(name, [{ text: "a sentence that is long enough to be cut", cut: true }])
    expect(await failureOf(model)).toMatchObject({ kind: "transport" })
  })

  test("fails as invalid output when the stream ends without a finish", async () => {
    const model = await open(name, [
      { text: "half of it", unfinished: true },
      { text: "", unfinished: true },
    ])
    expect(await failureOf(model)).toMatchObject({ kind: "invalid-output" })
    expect(await failureOf(model)).toMatchObject({ kind: "invalid-output" })
  })

  test("never repeats a request on its own", async () => {
    const model = await open(name, [{ error: "overloaded" }, { text: "second" }])
    expect(await failureOf(model)).toMatchObject({ kind: "overloaded" })
    expect(textOf(await collect(model))).toBe("second")
  })

  test("throws the caller's own reason when it is aborted before, at and during the answer", async () => {
    const reason = new Error("the person pressed escape")
    const early = new AbortController()
    early.abort(reason)
    const model = await open(name, [
      { text: "never", hold: "start" },
      { text: "one two three four", chunks: 8, hold: "middle" },
    ])
    await expect(collect(model, early.signal)).rejects.toBe(reason)
    const held = new AbortController()
    const waiting = collect(model, held.signal)
    await running[0]?.arrived(1)
    held.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    const middle = new AbortController()
    const seen: string[] = []
    const reading = async (): Promise<void> => {
      for await (const event of model.stream(REQUEST, middle.signal)) {
        seen.push(event.type)
        if (event.type === "text-delta") middle.abort(reason)
      }
    }
    await expect(reading()).rejects.toBe(reason)
    expect(seen).toContain("text-delta")
    expect(seen).not.toContain("finish")
  })

  test("can be left in the middle", async () => {
    const model = await open(name, [
      { text: "one two three four", chunks: 8, hold: "middle" },
      { text: "next" },
    ])
    for await (const event of model.stream(REQUEST, new AbortController().signal))
      if (event.type === "text-delta") break
    expect((await running[0]?.ended(1)) ?? "client-closed").toBe("client-closed")
    expect(textOf(await collect(model))).toBe("next")
  })

  test("reads 100,000 pieces one after the other", async () => {
    const model = await open(name, [{ text: "0123456789", times: 100_000, chunks: 100_000 }])
    let pieces = 0
    let characters = 0
    for await (const event of model.stream(REQUEST, new AbortController().signal)) {
      if (event.type !== "text-delta") continue
      pieces += 1
      characters += event.delta.length
    }
    expect({ pieces, characters }).toEqual({ pieces: 100_000, characters: 1_000_000 })
  }, 300_000)

  test("does not change the prompt it is given", async () => {
    const model = await open(name, [{ text: "ok" }])
    const before = structuredClone(REQUEST)
    await collect(model)
    expect(REQUEST).toEqual(before)
  })
})
