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
  ["an option nobody knows", { ...GOOD, permisions: [] }],
  ["a field of an agent nobody knows", { ...GOOD, agents: [{ name: "a", promt: "x" }] }],
  ["a field of a model nobody knows", { ...GOOD, models: [{ ...model, baseUrl: "http://x" }] }],
  ["a field of a limit nobody knows", { ...GOOD, limits: { turns: 3 } }],
  [
    "a field of a rule nobody knows",
    { ...GOOD, permissions: [{ action: "x", resource: "*", effect: "ask", why: "" }] },
  ],
  [
    "a field of a tool nobody knows",
    { ...GOOD, tools: [{ name: "a", description: "b", input: {}, execute: () => "", permission: "x" }] },
  ],
  [
    "a field of a source nobody knows",
    { ...GOOD, context: [{ key: "a", observe: () => 1, baseline: "", upd: "" }] },
  ],
]

test.each(BAD)("%s is refused before anything is opened", async (_what, options) => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a program without types may send
  await expect(openEngine(options as typeof GOOD)).rejects.toMatchObject({ code: "INVALID_INPUT" })
})

test("a tool may be an instance of a class, with fields of its own", async () => {
  class Counter {
    readonly name = "count"
    readonly description = "Counts."
    readonly input = { type: "object" }
    calls = 0
    execute(): string {
      this.calls += 1
      return "counted"
    }
  }
  const engine = await openEngine({ ...GOOD, tools: [new Counter()] })
  await engine.close()
})

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a program without types may send
const refused = (value: unknown): never => value as never

test("every verb refuses an invalid request, with a code", async () => {
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
  for (const [field, ask] of [
    ["sistem", () => sessions.prompt(refused({ sessionID: id, prompt: { text: "x" }, sistem: "y" }))],
    ["sandbox", () => sessions.create(refused({ location: { directory: tmpdir() }, sandbox: true }))],
    ["workspaceId", () => sessions.create(refused({ location: { directory: tmpdir(), workspaceId: "w" } }))],
    ["limits", () => sessions.list(refused({ limits: 3 }))],
  ] as const)
    await expect(ask()).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining(field),
    })
  for (const range of [{ after: -1 }, { limit: 0 }, { limit: 1_001 }, { bytes: 0 }, "all", { size: 3 }])
    await expect(sessions.inputs(id, refused(range))).rejects.toMatchObject({ code: "INVALID_INPUT" })
  for (const bytes of [0, -1, "9", Number.NaN])
    await expect(sessions.messages({ sessionID: id, bytes: refused(bytes) })).rejects.toMatchObject({
      code: "INVALID_INPUT",
    })
  await engine.close()
})
