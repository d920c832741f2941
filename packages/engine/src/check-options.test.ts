import { tmpdir } from "node:os"

import { expect, test } from "vitest"

import { openEngine } from "./open-engine.ts"

const model = { id: "a/one", provider: "scripted", contextWindow: 1_000, maxOutput: 100 } as const
const GOOD = { database: ":memory:", models: [model] } as const

const BAD: readonly (readonly [string, unknown])[] = [
  ["no options", undefined],
  ["no models", { database: ":memory:" }],
  ["a database that is a number", { ...GOOD, database: 5 }],
  ["two models with one id", { ...GOOD, models: [model, model] }],
  ["permissions that are a text", { ...GOOD, permissions: "x" }],
  ["a rule without a resource", { ...GOOD, permissions: [{ action: "x", effect: "allow" }] }],
  ["a rule with another effect", { ...GOOD, permissions: [{ action: "x", resource: "*", effect: "zz" }] }],
  ["retries below one", { ...GOOD, retry: { attempts: -1 } }],
  ["a delay that is no number", { ...GOOD, retry: { baseMs: Number.NaN } }],
  ["a negative buffer", { ...GOOD, compaction: { buffer: -1 } }],
  ["a text for tokens", { ...GOOD, compaction: { keepTokens: "x" } }],
  ["a tool without a name", { ...GOOD, tools: [{}] }],
  ["a source without a key", { ...GOOD, context: [{}] }],
  ["agents that are a text", { ...GOOD, agents: "x" }],
  ["instructions that are a text", { ...GOOD, instructions: "x" }],
  ["recovery of a number", { ...GOOD, recover: [5] }],
  ["recovery by a text", { ...GOOD, recover: "yes" }],
  ["an effort nobody knows", { ...GOOD, models: [{ ...model, effort: "enormous" }] }],
  ["a limit of zero", { ...GOOD, limits: { pendingInputs: 0 } }],
]

test.each(BAD)("%s is refused before anything is opened", async (_what, options) => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a program without types may send
  await expect(openEngine(options as typeof GOOD)).rejects.toMatchObject({ code: "INVALID_INPUT" })
})

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a program without types may send
const refused = (value: unknown): never => value as never

test("every verb refuses a request that is none, with a code", async () => {
  const engine = await openEngine(GOOD)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a program without types may send
  const none = undefined as never
  const { sessions, permissions } = engine
  const asked: readonly (() => unknown)[] = [
    () => sessions.create(none),
    () => sessions.get(none),
    () => sessions.prompt(none),
    () => sessions.run(none),
    () => sessions.wake(none),
    () => sessions.interrupt(none),
    () => sessions.wait(none),
    () => sessions.messages(none),
    () => sessions.message(none),
    () => sessions.inputs(none),
    () => sessions.cancel(none),
    () => sessions.switchModel(none),
    () => sessions.switchAgent(none),
    () => sessions.move(none),
    () => sessions.compact(none),
    () => sessions.receipts(none),
    () => sessions.restore(none),
    () => sessions.events(none),
    () => sessions.live(none),
    () => permissions.reply(none),
  ]
  for (const ask of asked)
    await expect((async () => ask())()).rejects.toMatchObject({ code: "INVALID_INPUT" })
  const { id } = await sessions.create({ location: { directory: tmpdir() } })
  for (const files of ["a", [{}], [{ mediaType: "image/png" }]])
    await expect(
      sessions.prompt({ sessionID: id, prompt: { text: "x", files: refused(files) } }),
    ).rejects.toMatchObject({
      code: "INVALID_INPUT",
    })
  for (const range of [{ after: -1 }, { limit: 0 }, { limit: 1_001 }, { bytes: 0 }, "all", { size: 3 }])
    await expect(sessions.inputs(id, refused(range))).rejects.toMatchObject({ code: "INVALID_INPUT" })
  for (const bytes of [0, -1, "9", Number.NaN])
    await expect(sessions.messages({ sessionID: id, bytes: refused(bytes) })).rejects.toMatchObject({
      code: "INVALID_INPUT",
    })
  await engine.close()
})
