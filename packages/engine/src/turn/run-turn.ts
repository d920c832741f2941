/**
 * One logical provider turn whose start is recorded. It makes one physical attempt (more only while nothing was visible),
 * records each complete call before starting it, settles every call, and records how the turn ended.
 */
import { Failure, type DurableEvent, type MessageId, type RecordedError } from "@meridian/protocol"
import { Cause, Effect, Exit, Fiber, Random } from "effect"

import { LIMITS } from "../domain/limits.ts"
import { limitPause, pauseAsked } from "../domain/question.ts"
import { decideRetry } from "../domain/retry.ts"
import { isRetryable, ModelFailure, type ModelRequest } from "../port/model.ts"
import { buildRequest, type TurnScene } from "../session/index.ts"
import type { Asking } from "./asking.ts"
import { createCalls, type Calls } from "./calls.ts"
import { extendRequest, watchTurn } from "./hooks.ts"
import { createRecorder, type Recorder } from "./recorder.ts"

export type TurnOutcome =
  /** `resultsToShow`: local calls were made, so the model has results to see. */
  | { readonly kind: "ended"; readonly resultsToShow: boolean }
  /** Nothing was visible, and the provider asks us to come back later. This is recorded, with the time or as a question. */
  | { readonly kind: "parked" }
  /**
   * The provider refused the request as too large before anything was visible. This is recorded; the caller decides what
   * follows.
   */
  | { readonly kind: "overflow"; readonly failure: Failure }

/** `step`: the started step. `number`: of the attempt. */
export const runTurn = (
  scene: TurnScene,
  step: MessageId,
  number = 1,
): Effect.Effect<TurnOutcome, Failure, Asking> =>
  Effect.flatMap(runAttempt(scene, step), (attempt) => {
    if (attempt.kind === "ended") {
      const ended = { kind: "ended", resultsToShow: attempt.calls > 0 } as const
      if (scene.cast.hooks === undefined) return Effect.succeed(ended)
      // What a hook does to files is not part of the turn.
      return scene.late.done.pipe(Effect.andThen(watchTurn(scene, step)), Effect.as(ended))
    }
    return Effect.flatMap(retryParkOrGiveUp(scene, step, { ...attempt, number }), (given) =>
      given === undefined ? runTurn(scene, step, number + 1) : Effect.succeed(given),
    )
  })

/** Undefined when the turn should be tried again now. */
const retryParkOrGiveUp = (
  { session, settings }: TurnScene,
  step: MessageId,
  attempt: FailedAttempt & { readonly number: number },
): Effect.Effect<TurnOutcome | undefined, Failure> =>
  Effect.gen(function* () {
    const { number, failure: cause, visible } = attempt
    const { kind, retryAfterMs } = cause.facts
    const { parking } = session.transcript()
    const now = session.now()
    const decision = decideRetry(settings.retry, {
      attempt: number,
      retryable: isRetryable(kind),
      isLimit: kind === "rate",
      visibleOutput: visible,
      now,
      chance: yield* Random.next,
      ...(parking === undefined ? {} : { parked: parking }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    })
    const error = recordModelFailure(cause)
    if (decision.kind === "give-up") {
      yield* session.append([stepFailed(step, error)])
      const failure = new Failure(
        "MODEL_FAILED",
        { kind, message: error.message, session: session.id },
        { cause },
      )
      if (kind === "overflow" && !visible) return { kind: "overflow", failure } as const
      return yield* Effect.fail(failure)
    }
    if (decision.kind === "park") {
      const { until, since, count } = decision
      const parked = { assistantMessageID: step, reason: "limit", until, since, count, error } as const
      yield* session.append([stepFailed(step, error), { type: "session.next.parked.1", data: parked }])
      return { kind: "parked" } as const
    }
    if (decision.kind === "ask") {
      const pause = limitPause({ step, until: decision.until, now, error })
      yield* session.append([stepFailed(step, error), pauseAsked(session.newQuestion(), pause)])
      return { kind: "parked" } as const
    }
    const { delayMs } = decision
    yield* session.append([
      {
        type: "session.next.retried.1",
        data: { assistantMessageID: step, attempt: number, delayMs, error },
      },
    ])
    yield* Effect.sleep(delayMs)
    return undefined
  })

/** The end of a step that is given up before or between its attempts. */
export const stepStopped = (step: MessageId): DurableEvent => stepFailed(step, STOPPED)

interface FailedAttempt {
  readonly kind: "failed"
  readonly failure: ModelFailure
  readonly visible: boolean
}

type Attempt = { readonly kind: "ended"; readonly calls: number } | FailedAttempt

/**
 * One physical attempt. Its end is always recorded: by the finish, by the caller's retry decision, or here when
 * interrupted.
 */
const runAttempt = (scene: TurnScene, step: MessageId): Effect.Effect<Attempt, Failure, Asking> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const { session } = scene
      const recorder = createRecorder({ assistantMessageID: step, publish: session.publish })
      const calls = createCalls(scene, step)
      const streamed = yield* Effect.exit(restore(consume(scene, recorder, calls)))
      if (Exit.isFailure(streamed) && Cause.hasInterrupts(streamed.cause)) {
        yield* Fiber.interruptAll(calls.fibers)
        yield* calls.settled() ?? Effect.void
        yield* stopStep(session, step, [...recorder.takePartial(), ...calls.unresolved()])
        return yield* Effect.interrupt
      }
      const joined = yield* Effect.exit(restore(joinAll(calls.fibers)))
      if (Exit.isFailure(joined) && Cause.hasInterrupts(joined.cause)) {
        yield* Fiber.interruptAll(calls.fibers)
        yield* calls.settled() ?? Effect.void
        if (Exit.isFailure(streamed))
          yield* stopStep(session, step, [...recorder.takePartial(), ...calls.unresolved()])
        return yield* Effect.interrupt
      }
      if (Exit.isFailure(joined)) return yield* Effect.failCause(joined.cause)
      const late = calls.settled()
      if (late !== undefined) yield* scene.late.begin(late)
      if (Exit.isSuccess(streamed))
        return { kind: "ended", calls: calls.fibers.length + calls.refused() } as const
      const failure = findModelFailure(streamed.cause)
      // A bug, or a store that refuses (fenced, full). The model is not to blame.
      if (failure === undefined) return yield* Effect.failCause(withoutModelFailure(streamed.cause))
      const left = [...recorder.takePartial(), ...calls.unresolved()]
      if (left.length > 0) yield* session.append(left)
      return { kind: "failed", failure, visible: recorder.visible() } as const
    }),
  )

/**
 * Records that a turn was stopped. The store may have kept the turn's end even if its answer got lost, so this ends only
 * what the log still shows as open.
 */
const stopStep = (
  session: TurnScene["session"],
  step: MessageId,
  left: readonly DurableEvent[],
): Effect.Effect<void, Failure> =>
  session.decide(({ conversation, calls }) => {
    const isOpen = conversation.openStep === step
    const isOpenCall = (id: string): boolean =>
      calls.open.some(({ messageID, callID }) => messageID === step && callID === id)
    const events = left.filter((event) =>
      event.type === "session.next.tool.failed.1" ? isOpenCall(event.data.callID) : isOpen,
    )
    return {
      kind: "append",
      events: isOpen ? [...events, stepStopped(step)] : events,
      answer: () => undefined,
    }
  })

const joinAll = (fibers: readonly Fiber.Fiber<void, Failure>[]): Effect.Effect<void, Failure> =>
  fibers.length === 0 ? Effect.void : Effect.forEach(fibers, (fiber) => Fiber.join(fiber), { discard: true })

const consume = (
  { session, cast, late }: TurnScene,
  recorder: Recorder,
  calls: Calls,
): Effect.Effect<void, ModelFailure | Failure, Asking> =>
  Effect.suspend(() => {
    const request = buildRequest(session.id, session.history(), cast)
    return cast.hooks?.beforeRequest === undefined
      ? send(cast, request, { recorder, calls, late })
      : Effect.flatMap(extendRequest({ session, cast }, request), (extended) =>
          send(cast, extended, { recorder, calls, late }),
        )
  })

const send = (
  { model }: TurnScene["cast"],
  request: ModelRequest,
  {
    recorder,
    calls,
    late,
  }: { readonly recorder: Recorder; readonly calls: Calls; readonly late: TurnScene["late"] },
): Effect.Effect<void, ModelFailure | Failure, Asking> =>
  Effect.suspend(() => {
    const controller = new AbortController()
    const events = model.stream(request, controller.signal)[Symbol.asyncIterator]()
    const advance = Effect.tryPromise({ try: () => recorder.advance(events), catch: asModelFailure })
    const consumeAll: Effect.Effect<void, ModelFailure | Failure, Asking> = Effect.flatMap(advance, () => {
      // The log holds the previous turn's file changes before any result of this turn, and no call changes files until
      // then.
      const record = Effect.andThen(late.done, calls.record(recorder.take()))
      if (!recorder.finished()) return Effect.andThen(record, consumeAll)
      return beside(record, recorder.advance(events))
    })
    return Effect.onError(consumeAll, () => Effect.sync(() => controller.abort()))
  })

/** Records the end while the stream is read to its own end. The stream has nothing more to say. */
const beside = <R>(
  record: Effect.Effect<void, ModelFailure | Failure, R>,
  rest: Promise<void>,
): Effect.Effect<void, ModelFailure | Failure, R> => {
  // A rejection is reported below, after the record is made.
  rest.catch(() => undefined)
  return record.pipe(Effect.andThen(Effect.tryPromise({ try: () => rest, catch: asModelFailure })))
}

const STOPPED: RecordedError = { code: "INTERRUPTED", message: "The turn was interrupted." }

const stepFailed = (assistantMessageID: MessageId, error: RecordedError): DurableEvent => ({
  type: "session.next.step.failed.2",
  data: { assistantMessageID, error },
})

const recordModelFailure = ({
  message,
  facts: { kind, status, retryAfterMs },
}: ModelFailure): RecordedError => ({
  code: kind,
  message: `${message.slice(0, LIMITS.recordedErrorCharacters)}${sayWait(retryAfterMs)}`,
  ...(status === undefined ? {} : { status }),
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
})

/** A wait that is too long for us is reported to people. */
const sayWait = (retryAfterMs = 0): string =>
  retryAfterMs > LIMITS.retryDelayMs
    ? ` (the provider asks to wait ${Math.ceil(retryAfterMs / 60_000)} minutes)`
    : ""

const asModelFailure = (cause: unknown): ModelFailure => {
  if (cause instanceof ModelFailure) return cause
  const message = cause instanceof Error ? cause.message : String(cause)
  return new ModelFailure({ kind: "unknown", message }, { cause })
}

const findModelFailure = (cause: Cause.Cause<ModelFailure | Failure>): ModelFailure | undefined => {
  for (const reason of cause.reasons)
    if (Cause.isFailReason(reason) && reason.error instanceof ModelFailure) return reason.error
  return undefined
}

const withoutModelFailure = (cause: Cause.Cause<ModelFailure | Failure>): Cause.Cause<Failure> => {
  for (const reason of cause.reasons)
    if (Cause.isFailReason(reason) && reason.error instanceof Failure) return Cause.fail(reason.error)
  return Cause.die(Cause.squash(cause))
}
