/** Restarts calls that had only asked when their process died. Each restart is recorded first. */
import { messageId, type Failure } from "@meridian/protocol"
import { Effect, Semaphore } from "effect"

import { LIMITS } from "../domain/limits.ts"
import type { OpenCall } from "../domain/transcript/calls.ts"
import type { TurnScene } from "../session/index.ts"
import type { Asking } from "./asking.ts"
import { keepTurn } from "./keep-files.ts"
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
    const turns = Map.groupBy(parked, ({ messageID }) => messageID)
    const kept = new Map([...turns.keys()].map((id) => [id, keepTurn(scene, messageId(id))]))
    yield* Effect.forEach(
      parked,
      ({ messageID, callID, tool, input }) => {
        const files = kept.get(messageID) ?? keepTurn(scene, messageId(messageID))
        const call = { messageID, callID, tool, input: input ?? {} }
        return runCall(scene, call, { slots, recorded: safe, files })
      },
      // The slots limit how many run. Every call must start here, so that an interrupt settles each of them.
      { concurrency: "unbounded", discard: true },
    ).pipe(
      Effect.ensuring(
        Effect.forEach([...kept.values()], ({ after }) => Effect.ignore(after() ?? Effect.void)),
      ),
    )
  })
