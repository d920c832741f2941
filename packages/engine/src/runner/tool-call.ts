/**
 * One tool call, from its record to its outcome. The intent is stored before the tool starts and the outcome after it
 * ended; a call that is interrupted is told to stop, waited for, and recorded as what it turned out to be.
 */
import { messageId, type DurableEvent, type Failure, type Json, type RecordedError } from "@meridian/protocol"
import { Effect, Exit, type Semaphore } from "effect"

import { LIMITS } from "../domain/limits.ts"
import { ToolError, type ToolOutput, type ToolScene } from "../port/tool.ts"
import { attemptNow } from "./attempt.ts"

export interface Call {
  readonly messageID: string
  readonly callID: string
  readonly tool: string
  readonly input: Json
  /** Added to what the model reads, when it goes round in circles. */
  readonly note?: string
}

export interface CallTools {
  readonly call: (name: string, input: Json, scene: ToolScene) => Promise<ToolOutput>
}

/** Runs the call and stores its outcome. Interruption ends the tool, never the recording. */
export const settleCall = (options: {
  readonly call: Call
  readonly tools: CallTools
  readonly scene: Omit<ToolScene, "signal">
  readonly ask: (signal: AbortSignal) => ToolScene["ask"]
  /** Done when the record of the call is on the disk: nothing acts before. */
  readonly recorded: Promise<void> | undefined
  /** Bounds how many run at once; a call that is interrupted while it waits for its turn is settled too. */
  readonly slots: Semaphore.Semaphore
  /** Asked when the call is interrupted: it has only asked so far, and its question outlives this engine. */
  readonly staysOpen: () => boolean
  readonly store: (event: DurableEvent) => void
}): Effect.Effect<void, Failure> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const known: Known = { staysOpen: false }
      const exit = yield* Effect.exit(restore(options.slots.withPermit(execute(options, known))))
      if (known.staysOpen && known.outcome?.kind !== "success") return
      // Interrupted, yet the tool had succeeded by the time it listened: then that is what happened.
      const event = outcomeEvent(
        options.call,
        Exit.isSuccess(exit) || known.outcome?.kind === "success" ? (known.outcome ?? STOPPED) : STOPPED,
      )
      yield* attemptNow(() => options.store(event))
    }),
  )

type Outcome =
  | { readonly kind: "success"; readonly output: ToolOutput }
  | { readonly kind: "failed"; readonly error: RecordedError }

interface Known {
  outcome?: Outcome
  staysOpen: boolean
}

const execute = (options: Parameters<typeof settleCall>[0], known: Known): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const controller = new AbortController()
    const { call, tools, scene, ask } = options
    const { signal } = controller
    const start = () => tools.call(call.tool, call.input, { ...scene, signal, ask: ask(signal) })
    const running = (options.recorded?.then(() => signal.throwIfAborted()).then(start) ?? start())
      .then(
        (output): Outcome => ({ kind: "success", output }),
        (cause: unknown): Outcome => ({ kind: "failed", error: recordedError(cause) }),
      )
      .then((outcome) => (known.outcome = outcome))
    void running.then(() => resume(Effect.void))
    // Runs on interruption: tell the tool, give it time to end what it started, then go on without it.
    return Effect.sync(() => {
      known.staysOpen = options.staysOpen()
      controller.abort(new ToolError("interrupted", INTERRUPTED.message))
    }).pipe(
      Effect.andThen(Effect.promise(() => running)),
      Effect.timeoutOption(LIMITS.toolAbortGraceMs),
      Effect.asVoid,
    )
  })

const outcomeEvent = (call: Call, outcome: Outcome): DurableEvent => {
  const owner = { assistantMessageID: messageId(call.messageID), callID: call.callID }
  if (outcome.kind === "failed") {
    const error =
      call.note === undefined
        ? outcome.error
        : { ...outcome.error, message: `${outcome.error.message}\n\n${call.note}` }
    return { type: "session.next.tool.failed.1", data: { ...owner, error } }
  }
  const { content, structured, outputPath } = outcome.output
  return {
    type: "session.next.tool.success.1",
    data: {
      ...owner,
      content: call.note === undefined ? content : [...content, { type: "text", text: call.note }],
      ...(structured === undefined ? {} : { structured }),
      ...(outputPath === undefined ? {} : { outputPath }),
    },
  }
}

/** The words of seed 004: a call whose outcome nobody can know is never repeated, only reported. */
export const INTERRUPTED: RecordedError = { code: "interrupted", message: "Tool execution interrupted" }

const STOPPED: Outcome = { kind: "failed", error: INTERRUPTED }

export const recordedError = (cause: unknown): RecordedError => {
  const text = cause instanceof Error ? cause.message : String(cause)
  const message = text.slice(0, LIMITS.recordedErrorCharacters)
  return {
    code: cause instanceof ToolError ? cause.code : "failed",
    message: message === "" ? "The tool failed." : message,
  }
}
