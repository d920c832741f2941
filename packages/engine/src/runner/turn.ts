/**
 * One logical provider turn whose start is recorded: make one physical attempt (more only while nothing was visible),
 * record each complete call before it is started, settle every call, record how the turn ended.
 */
import { Failure, type DurableEvent, type MessageId, type RecordedError } from "@meridian/protocol"
import { Cause, Effect, Exit, Fiber } from "effect"

import { LIMITS } from "../domain/limits.ts"
import type { PermissionRule } from "../domain/permission.ts"
import { decideRetry, type RetryPolicy } from "../domain/retry.ts"
import type { Transcript } from "../domain/transcript/transcript.ts"
import { isRetryable, ModelFailure, type Model, type ModelRequest } from "../port/model.ts"
import type { World } from "../port/world.ts"
import type { Fence } from "../store/log.ts"
import { attemptNow } from "./attempt.ts"
import { createCalls, type Calls } from "./calls.ts"
import type { Permissions } from "./permissions.ts"
import { createRecorder, type Recorder } from "./recorder.ts"
import type { Call, CallTools } from "./tool-call.ts"

export interface TurnScene {
  readonly sessionID: string
  readonly fence: Fence
  /** The step that was started. */
  readonly assistantMessageID: MessageId
  readonly agent: string
  readonly rules: readonly PermissionRule[]
  /** Whose saved approvals count. */
  readonly project: string
  readonly model: Model
  readonly request: ModelRequest
  readonly tools: CallTools
  readonly retry: RetryPolicy
  readonly world: World
  readonly permissions: Permissions
  readonly transcript: () => Transcript
  readonly append: (events: readonly DurableEvent[]) => void
  /** Of what is about to be done: resolves when it is on the disk, undefined when it is already. */
  readonly intend: (events: readonly DurableEvent[]) => Promise<void> | undefined
  readonly appendSoon: (events: readonly DurableEvent[]) => void | Promise<void>
  readonly publish: Parameters<typeof createRecorder>[0]["publish"]
  /** What a successful call leads to beside its result, recorded with it. */
  readonly consequences: (call: Call) => readonly DurableEvent[]
}

export type TurnOutcome =
  /** `resultsToShow`: local calls were made, so the model has results to see. */
  | { readonly kind: "ended"; readonly resultsToShow: boolean }
  /** The provider refused the request as too large, before anything was visible. Recorded; what follows is not decided. */
  | { readonly kind: "overflow"; readonly failure: Failure }

type Step =
  | { readonly kind: "ended"; readonly calls: number }
  | { readonly kind: "failed"; readonly failure: ModelFailure; readonly visible: boolean }

export const runTurn = (scene: TurnScene): Effect.Effect<TurnOutcome, Failure> =>
  Effect.gen(function* () {
    const { assistantMessageID } = scene
    for (let number = 1; ; number += 1) {
      const step = yield* runAttempt(scene)
      if (step.kind === "ended") return { kind: "ended", resultsToShow: step.calls > 0 } as const
      const { kind, retryAfterMs } = step.failure.facts
      const decision = decideRetry(scene.retry, {
        attempt: number,
        retryable: isRetryable(kind),
        visibleOutput: step.visible,
        chance: scene.world.chance(),
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      })
      const error = recordModelFailure(step.failure)
      if (decision.kind === "give-up") {
        yield* attemptNow(() => scene.append([stepFailed(assistantMessageID, error)]))
        const failure = new Failure(
          "MODEL_FAILED",
          { kind, message: error.message, session: scene.sessionID },
          { cause: step.failure },
        )
        if (kind === "overflow" && !step.visible) return { kind: "overflow", failure } as const
        return yield* Effect.fail(failure)
      }
      const { delayMs } = decision
      yield* attemptNow(() =>
        scene.append([
          { type: "session.next.retried.1", data: { assistantMessageID, attempt: number, delayMs, error } },
        ]),
      )
      yield* Effect.sleep(delayMs)
    }
  })

/** How a step ends that is given up before, or between, its attempts. */
export const stepStopped = (assistantMessageID: MessageId): DurableEvent =>
  stepFailed(assistantMessageID, STOPPED)

/** One physical try. Its end is always recorded: by the finish, by the caller's retry decision, or here when interrupted. */
const runAttempt = (scene: TurnScene): Effect.Effect<Step, Failure> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const { assistantMessageID } = scene
      const recorder = createRecorder({ assistantMessageID, publish: scene.publish })
      const calls = createCalls(scene)
      const streamed = yield* Effect.exit(restore(consume(scene, recorder, calls)))
      if (Exit.isFailure(streamed) && Cause.hasInterrupts(streamed.cause)) {
        yield* Fiber.interruptAll(calls.fibers)
        yield* attemptNow(() => {
          const left = [...recorder.takePartial(), ...calls.unresolved()]
          scene.append(calls.ended() ? left : [...left, stepStopped(assistantMessageID)])
        })
        return yield* Effect.interrupt
      }
      const joined = yield* Effect.exit(restore(joinAll(calls.fibers)))
      if (Exit.isFailure(joined) && Cause.hasInterrupts(joined.cause)) {
        yield* Fiber.interruptAll(calls.fibers)
        if (Exit.isFailure(streamed))
          yield* attemptNow(() =>
            scene.append([...recorder.takePartial(), ...calls.unresolved(), stepStopped(assistantMessageID)]),
          )
        return yield* Effect.interrupt
      }
      if (Exit.isFailure(joined)) return yield* Effect.failCause(joined.cause)
      if (Exit.isSuccess(streamed))
        return { kind: "ended", calls: calls.fibers.length + calls.refused() } as const
      const failure = findModelFailure(streamed.cause)
      // A bug, or a store that refuses (fenced, full): not the model's doing.
      if (failure === undefined) return yield* Effect.failCause(withoutModelFailure(streamed.cause))
      yield* attemptNow(() => {
        const left = [...recorder.takePartial(), ...calls.unresolved()]
        if (left.length > 0) scene.append(left)
      })
      return { kind: "failed", failure, visible: recorder.visible() } as const
    }),
  )

const joinAll = (fibers: readonly Fiber.Fiber<void, Failure>[]): Effect.Effect<void, Failure> =>
  Effect.forEach(fibers, (fiber) => Fiber.join(fiber), { discard: true })

const consume = (
  scene: TurnScene,
  recorder: Recorder,
  calls: Calls,
): Effect.Effect<void, ModelFailure | Failure> =>
  Effect.suspend(() => {
    const controller = new AbortController()
    const events = scene.model.stream(scene.request, controller.signal)[Symbol.asyncIterator]()
    const advance = Effect.tryPromise({ try: () => recorder.advance(events), catch: asModelFailure })
    return Effect.gen(function* () {
      do {
        yield* advance
        const record = calls.record(recorder.take())
        yield* !recorder.finished() || events.isOver?.() === true
          ? record
          : beside(record, recorder.advance(events))
      } while (!recorder.finished())
    }).pipe(Effect.onError(() => Effect.sync(() => controller.abort())))
  })

/** The end is recorded while the stream, which has nothing more to say, is read to its own. */
const beside = (
  record: Effect.Effect<void, ModelFailure | Failure>,
  rest: Promise<void>,
): Effect.Effect<void, ModelFailure | Failure> => {
  // Heard below, when the record is made.
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

/** A wait that is too long for us is for people to know. */
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
