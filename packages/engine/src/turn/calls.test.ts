import { messageId, type DurableEvent } from "@meridian/protocol"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { expect, test } from "vitest"

import { verifies } from "../../../../test/verifies.ts"
import { emptyTranscript, type Transcript } from "../domain/transcript/transcript.ts"
import { noFilePlaces } from "../files/file-places.ts"
import { ModelFailure } from "../port/model.ts"
import type { TurnScene } from "../session/index.ts"
import { createCalls } from "./calls.ts"
import { AskPermission } from "./permissions.ts"
import { AskQuestion } from "./questions.ts"
import type { Noted, Significant } from "./recorder.ts"
import { Tasks } from "./tasks.ts"

const openCalls = () => {
  const stored: DurableEvent[] = []
  const assistantMessageID = messageId("msg_1")
  const session = {
    append: (events: readonly DurableEvent[]) => Effect.sync(() => void stored.push(...events)),
    transcript: () => emptyTranscript(),
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- hosted calls use nothing else of the scene
  const calls = createCalls({ session } as unknown as TurnScene, assistantMessageID)
  const recordNoted = (noted: readonly Noted[]) => Effect.provide(calls.record(noted), NOBODY)
  const record = (...events: readonly Significant[]) => recordNoted(significant(...events))
  return { record, recordNoted, types: () => stored.map(({ type }) => type) }
}

/** These calls ask nothing. */
const NOBODY = Layer.mergeAll(
  Layer.mock(AskPermission, { isClosing: () => false }),
  Layer.mock(AskQuestion, {}),
  Layer.mock(Tasks, {}),
  noFilePlaces,
)

const significant = (...events: readonly Significant[]): readonly Noted[] =>
  events.map((event) => ({ kind: "significant", event }))
const prose: Noted = {
  kind: "prose",
  event: {
    type: "session.next.text.ended.1",
    data: { assistantMessageID: messageId("msg_1"), text: "shown" },
  },
}
const call = { type: "tool-call", id: "h1", name: "web_search", input: "{}", providerExecuted: true } as const
const result = { type: "tool-result", id: "h1", name: "web_search", result: [], isError: false } as const

verifies("tool.second-result", async () => {
  const { record, types } = openCalls()
  await Effect.runPromise(record(call))
  await Effect.runPromise(record(result))
  const second = await Effect.runPromise(Effect.flip(record(result)))
  expect(second).toBeInstanceOf(ModelFailure)
  expect(second).toMatchObject({ facts: { kind: "invalid-output" } })
  expect(types()).toEqual(["session.next.tool.called.1", "session.next.tool.success.1"])
})

verifies(
  "tool.second-result",
  async () => {
    const { record, types } = openCalls()
    const failure = await Effect.runPromise(Effect.flip(record(result)))
    expect(failure.message).toContain("not waiting")
    expect(types()).toEqual([])
  },
  "nor one without a call",
)

verifies(
  "tool.second-result",
  async () => {
    const { recordNoted, types } = openCalls()
    const failure = await Effect.runPromise(
      Effect.flip(recordNoted([...significant(call, result, result, call), prose])),
    )
    expect(failure.message).toContain("not waiting")
    expect(types()).toEqual([
      "session.next.tool.called.1",
      "session.next.tool.success.1",
      "session.next.text.ended.1",
    ])
  },
  "and what came with it is recorded up to there, prose in any case: it was shown",
)

test("a call acts only after its record is safe", async () => {
  const disk = Deferred.makeUnsafe<void>()
  const acted: string[] = []
  const session = {
    id: "ses_1",
    intend: () => Effect.succeed({ safe: Deferred.await(disk) }),
    append: () => Effect.void,
    decide: (decision: (transcript: Transcript) => unknown) =>
      Effect.sync(() => void decision(emptyTranscript())),
    transcript: () => emptyTranscript(),
  }
  const cast = {
    agent: { name: "build" },
    traitsOf: () => ({}),
    rules: [],
    call: async (tool: string) => {
      acted.push(tool)
      return { content: [] }
    },
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a call that asks nothing uses nothing else of the scene
  const scene = { session, cast, location: { directory: "/" } } as unknown as TurnScene
  const calls = createCalls(scene, messageId("msg_1"))
  const local = { type: "tool-call", id: "1", name: "act", input: "{}", providerExecuted: false } as const
  await Effect.gen(function* () {
    yield* calls.record(significant(local))
    for (let turn = 0; turn < 10; turn += 1) yield* Effect.yieldNow
    expect(acted).toEqual([])
    Deferred.doneUnsafe(disk, Effect.void)
    yield* Effect.forEach(calls.fibers, Fiber.join)
    expect(acted).toEqual(["act"])
  }).pipe(Effect.provide(NOBODY), Effect.runPromise)
})
