import { messageId, type DurableEvent } from "@meridian/protocol"
import { Effect, Layer } from "effect"
import { expect } from "vitest"

import { verifies } from "../../../../test/verifies.ts"
import { emptyTranscript } from "../domain/transcript/transcript.ts"
import { ModelFailure } from "../port/model.ts"
import type { TurnScene } from "../session/index.ts"
import { createCalls } from "./calls.ts"
import { AskPermission } from "./permissions.ts"
import type { Noted, Significant } from "./recorder.ts"

const openCalls = () => {
  const stored: DurableEvent[] = []
  const assistantMessageID = messageId("msg_1")
  const session = {
    append: (events: readonly DurableEvent[]) => Effect.sync(() => void stored.push(...events)),
    transcript: () => emptyTranscript(),
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- hosted calls use nothing else of the scene
  const calls = createCalls({ session } as unknown as TurnScene, assistantMessageID)
  const recordNoted = (noted: readonly Noted[]) =>
    Effect.provide(calls.record(noted), Layer.mock(AskPermission, {}))
  const record = (...events: readonly Significant[]) => recordNoted(significant(...events))
  return { record, recordNoted, types: () => stored.map(({ type }) => type) }
}

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
