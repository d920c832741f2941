import { messageId, type DurableEvent } from "@meridian/protocol"
import { Effect } from "effect"
import { expect } from "vitest"

import { verifies } from "../../../../test/verifies.ts"
import { createTranscript } from "../domain/transcript.ts"
import { ModelFailure } from "../port/model.ts"
import { createCalls } from "./calls.ts"
import { createRecorder } from "./recorder.ts"
import type { TurnScene } from "./turn.ts"

const openCalls = () => {
  const stored: DurableEvent[] = []
  const assistantMessageID = messageId("msg_1")
  const scene = {
    assistantMessageID,
    append: (events: readonly DurableEvent[]) => stored.push(...events),
    transcript: () => createTranscript(),
  }
  const recorder = createRecorder({ assistantMessageID, publish: () => undefined })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- hosted calls use nothing else of the scene
  const calls = createCalls(scene as unknown as TurnScene, recorder)
  return { calls, types: () => stored.map(({ type }) => type) }
}

const call = { type: "tool-call", id: "h1", name: "web_search", input: "{}", providerExecuted: true } as const
const result = { type: "tool-result", id: "h1", name: "web_search", result: [], isError: false } as const

verifies("tool.second-result", async () => {
  const { calls, types } = openCalls()
  await Effect.runPromise(calls.begin(call))
  await Effect.runPromise(calls.resolve(result))
  const second = await Effect.runPromise(Effect.flip(calls.resolve(result)))
  expect(second).toBeInstanceOf(ModelFailure)
  expect(second).toMatchObject({ facts: { kind: "invalid-output" } })
  expect(types()).toEqual(["session.next.tool.called.1", "session.next.tool.success.1"])
})

verifies(
  "tool.second-result",
  async () => {
    const { calls, types } = openCalls()
    const failure = await Effect.runPromise(Effect.flip(calls.resolve(result)))
    expect(failure.message).toContain("not waiting")
    expect(types()).toEqual([])
  },
  "nor one without a call",
)
