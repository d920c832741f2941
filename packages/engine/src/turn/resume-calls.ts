/** Starts again what had only asked when its process died. Its record says so first. */
import { messageId, type Failure } from "@meridian/protocol"
import { Effect, Semaphore } from "effect"

import { LIMITS } from "../domain/limits.ts"
import type { OpenCall } from "../domain/transcript/calls.ts"
import type { TurnScene } from "../session/index.ts"
import type { Asking } from "./asking.ts"
import { runCall } from "./tool-call.ts"

export const resumeCalls = (
  scene: TurnScene,
  parked: readonly OpenCall[],
): Effect.Effect<void, Failure, Asking> =>
  Effect.gen(function* () {
    const { safe } = yield* scene.session.intend(
      parked.map(({ messageID, callID }) => ({
        type: "session.next.tool.resumed.1",
        data: { assistantMessageID: messageId(messageID), callID },
      })),
    )
    const slots = Semaphore.makeUnsafe(LIMITS.toolCallsAtOnce)
    yield* Effect.forEach(
      parked,
      ({ messageID, callID, tool, input }) =>
        runCall(scene, { messageID, callID, tool, input: input ?? {} }, { slots, recorded: safe }),
      // The slots bound it; every call must be entered, so that an interrupt settles each of them.
      { concurrency: "unbounded", discard: true },
    )
  })
