/** Settles what a lost process left open in a session. First its processes are ended: nothing acts after it was reported. */
import type { Failure } from "@meridian/protocol"
import { Context, Effect } from "effect"

import { settleLeftovers } from "../domain/leftovers.ts"
import { parkedCalls, type CallName } from "../domain/transcript/calls.ts"
import { hasUnfinishedWork } from "../domain/transcript/transcript.ts"
import { Store } from "../port/store.ts"
import type { SessionHandle, WithSession } from "../session/index.ts"

/** Processes that calls of a lost engine left running. */
export class LostProcesses extends Context.Service<
  LostProcesses,
  {
    readonly end: (calls: readonly (CallName & { readonly sessionID: string })[]) => Effect.Effect<void>
  }
>()("meridian/LostProcesses") {}

export const settle = (session: SessionHandle): Effect.Effect<void, Failure, LostProcesses> =>
  Effect.suspend(() => {
    const { calls } = session.transcript()
    const left = settleLeftovers(session.transcript())
    if (left.length === 0) return Effect.void
    const running = calls.open.filter(({ hosted }) => !hosted)
    return LostProcesses.use(({ end }) =>
      running.length === 0
        ? Effect.void
        : end(running.map(({ messageID, callID }) => ({ sessionID: session.id, messageID, callID }))),
    ).pipe(Effect.andThen(session.append(left)))
  })

/** Settles a session without going on with it. Nothing happens while somebody is at it. */
export const recoverSession = (id: string, withSession: WithSession) =>
  Effect.gen(function* () {
    const { leases } = yield* Store
    yield* Effect.acquireUseRelease(
      leases.acquire(id),
      (lease) =>
        lease.kind === "held"
          ? Effect.void
          : withSession({ fence: lease.fence, released: () => 0 }, (session) =>
              Effect.gen(function* () {
                yield* session.refresh
                yield* settle(session)
                if (lease.abandoned) yield* reportUnfinished(session)
              }),
            ),
      (lease) => (lease.kind === "held" ? Effect.void : leases.release(lease.fence)),
    )
  })

/** Not gone on with, and not silent either: the session shows as interrupted until somebody runs it. */
const reportUnfinished = (session: SessionHandle): Effect.Effect<void, Failure> =>
  session.decide((transcript) => {
    const isLeft = hasUnfinishedWork(transcript) && parkedCalls(transcript.calls).length === 0
    const error = {
      code: "INTERRUPTED",
      message: "The process that worked on this ended before it was done.",
    }
    const events = isLeft ? [{ type: "session.next.execution.failed.1", data: { error } } as const] : []
    return { kind: "append", events, answer: () => undefined }
  })
