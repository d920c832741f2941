/**
 * What becomes of a session whose process was lost. First its child processes are ended, so that nothing acts after it was
 * reported. Then its open work is settled and either left to people or marked to resume, in one append.
 */
import type { Failure, RecoveryPolicy } from "@meridian/protocol"
import { Clock, Context, Effect } from "effect"

import { settleLeftovers } from "../domain/leftovers.ts"
import { decideRecovery, recoveryEvents } from "../domain/recovery.ts"
import { parkedCalls, type CallName } from "../domain/transcript/calls.ts"
import { isWaiting } from "../domain/transcript/parking.ts"
import { hasUnfinishedWork, type Transcript } from "../domain/transcript/transcript.ts"
import { sayStep } from "../port/say-aloud.ts"
import { Store } from "../port/store.ts"
import {
  DEFAULT_AGENT,
  Settings,
  type SessionHandle,
  type SettingsValue,
  type WithSession,
} from "../session/index.ts"

/** Ends processes that calls of a lost engine left running. */
export class LostProcesses extends Context.Service<
  LostProcesses,
  {
    readonly end: (calls: readonly (CallName & { readonly sessionID: string })[]) => Effect.Effect<void>
  }
>()("meridian/LostProcesses") {}

/** `abandoned`: its owner never released the session. */
export const settle = (
  session: SessionHandle,
  { abandoned }: { readonly abandoned: boolean },
): Effect.Effect<void, Failure, LostProcesses | Settings> =>
  Effect.gen(function* () {
    const settings = yield* Settings
    const start = yield* Clock.currentTimeMillis
    const { seq } = session.transcript()
    const goesOn = abandoned && recoveryOf(session.transcript(), settings) === "continue"
    const left = settleLeftovers(session.transcript())
    if (left.length === 0 && !goesOn) return
    yield* endProcesses(session)
    const question = session.newQuestion()
    yield* session.decide((transcript) => ({
      kind: "append",
      events: [
        ...settleLeftovers(transcript),
        ...(goesOn ? recoveryEvents(decideRecovery(transcript), question) : []),
      ],
      answer: () => undefined,
    }))
    const end = yield* Clock.currentTimeMillis
    const attributes = { "meridian.recovery": goesOn ? "continue" : "report" }
    sayStep({ name: "session.recover", session: session.id, seq, start, end, attributes })
  })

/** The session's own policy wins over its agent's, and the agent's over the engine's. */
export const recoveryOf = (
  { choices: { recovery, agent = DEFAULT_AGENT } }: Transcript,
  settings: SettingsValue,
): RecoveryPolicy => recovery ?? settings.agents.get(agent)?.recovery ?? settings.recovery

const endProcesses = (session: SessionHandle): Effect.Effect<void, never, LostProcesses> => {
  const running = session.transcript().calls.open.filter(({ hosted }) => !hosted)
  return running.length === 0
    ? Effect.void
    : LostProcesses.use(({ end }) =>
        end(running.map(({ messageID, callID }) => ({ sessionID: session.id, messageID, callID }))),
      )
}

/**
 * Marks work that a closing engine cuts off. Nobody asked for its end, so if work resumes after a crash it also resumes
 * after this.
 */
export const leaveForOthers = (
  session: SessionHandle,
  /** Interrupts up to this sequence concern earlier work. */
  interruptSeq: number,
): Effect.Effect<void, Failure, Settings> =>
  Effect.gen(function* () {
    const settings = yield* Settings
    if (recoveryOf(session.transcript(), settings) !== "continue") return
    const transcript = yield* session.refresh
    if (transcript.interruptSeq > interruptSeq) return
    yield* markToGoOn(session)
  })

/** Marks unfinished work so that the next process to look resumes it. */
export const markToGoOn = (session: SessionHandle): Effect.Effect<void, Failure> =>
  Effect.suspend(() => {
    const question = session.newQuestion()
    return session.decide((now) => ({
      kind: "append",
      events: recoveryEvents(decideRecovery(now), question),
      answer: () => undefined,
    }))
  })

/**
 * Settles a session without working on it, and answers whether its work should resume. Does nothing while another holder
 * works on it.
 */
export const recoverSession = (id: string, withSession: WithSession) =>
  Effect.gen(function* () {
    const { leases } = yield* Store
    return yield* Effect.acquireUseRelease(
      leases.acquire(id),
      (lease) =>
        lease.kind !== "acquired"
          ? Effect.succeed(false)
          : withSession({ fence: lease.fence, released: () => 0 }, (session) =>
              Effect.gen(function* () {
                yield* session.refresh
                yield* settle(session, lease)
                if (lease.abandoned) yield* reportUnfinished(session)
                const { parking } = session.transcript()
                return isWaiting(parking) && parking?.question === undefined
              }),
            ),
      (lease) => (lease.kind !== "acquired" ? Effect.void : leases.release(lease.fence)),
    )
  })

/** For work that is not resumed: the session shows as interrupted until somebody runs it. */
const reportUnfinished = (session: SessionHandle): Effect.Effect<void, Failure> =>
  session.decide((transcript) => {
    const isLeft =
      hasUnfinishedWork(transcript) &&
      parkedCalls(transcript.calls).every(({ delegated }) => delegated === true) &&
      !isWaiting(transcript.parking)
    const error = {
      code: "INTERRUPTED",
      message: "The process that worked on this ended before it was done.",
    }
    const events = isLeft ? [{ type: "session.next.execution.failed.1", data: { error } } as const] : []
    return { kind: "append", events, answer: () => undefined }
  })
