/**
 * One tool call, from its record to its outcome. The intent is stored before the tool starts, and the outcome after it
 * ended. An interrupted call is told to stop and awaited; then its real outcome is recorded.
 */
import { messageId, type DurableEvent, type Failure, type Json, type RecordedError } from "@meridian/protocol"
import { Effect, Exit, type Semaphore } from "effect"

import { ANSWER_TOOL } from "../domain/answer-format.ts"
import { INTERRUPTED_CALL } from "../domain/leftovers.ts"
import { LIMITS } from "../domain/limits.ts"
import { noticeRepetition, type Repetition } from "../domain/repetition.ts"
import type { Result, Row } from "../domain/transcript/repetition.ts"
import { projectOf } from "../domain/workspaces.ts"
import { ToolError, type ToolOutput } from "../port/tool.ts"
import type { TurnScene } from "../session/index.ts"
import type { Asking } from "./asking.ts"
import { callWithHooks } from "./hooks.ts"
import type { KeptTurn } from "./keep-files.ts"
import { AskPermission } from "./permissions.ts"
import { AskQuestion } from "./questions.ts"
import { answered } from "./read-answer.ts"
import { namesFor, Tasks } from "./tasks.ts"

export interface Call {
  readonly messageID: string
  readonly callID: string
  readonly tool: string
  readonly input: Json
}

export interface CallConditions {
  /** Limits how many calls run at once. A call that is interrupted while waiting for its turn is settled too. */
  readonly slots: Semaphore.Semaphore
  /** Completes when the record of the call is safe. Nothing acts before that. */
  readonly recorded: Effect.Effect<void, Failure>
  /** Keeps the files that the call may change. */
  readonly files: KeptTurn
}

/** Runs a call and stores its outcome. Interruption ends the tool, never the recording. */
export const runCall = (
  scene: TurnScene,
  call: Call,
  { slots, recorded, files }: CallConditions,
): Effect.Effect<void, Failure, Asking> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const known: Known = { staysOpen: false }
      const run = Effect.matchEffect(recorded, {
        onSuccess: () => execute(scene, call, { known, files }),
        onFailure: (failure) =>
          Effect.sync(() => {
            known.outcome = { kind: "failed", error: recordedError(failure) }
          }),
      })
      const { waits } = scene.cast.traitsOf(call.tool)
      const exit = yield* Effect.exit(restore(waits === true ? run : slots.withPermit(run)))
      if (known.staysOpen && known.outcome?.kind !== "success") return
      // Interrupted, but the tool succeeded before it noticed. Then the success is what happened.
      const settled = Exit.isSuccess(exit) || known.outcome?.kind === "success"
      const outcome = (settled ? known.outcome : undefined) ?? STOPPED
      yield* scene.session.decide(({ row }) => ({
        kind: "append",
        events: [
          ...outcomeEvents(call, outcome, row),
          ...(outcome.kind === "success"
            ? discoveries(scene, { ...call, input: known.input ?? call.input })
            : []),
          ...answers(scene, call, outcome),
        ],
        answer: () => undefined,
      }))
    }),
  )

type Outcome =
  | { readonly kind: "success"; readonly output: ToolOutput }
  | { readonly kind: "failed"; readonly error: RecordedError }

interface Known {
  outcome?: Outcome
  /** The call was interrupted while it had only asked, and its question outlives this engine. */
  staysOpen: boolean
  /** The input the call was made with. */
  input?: Json
}

const execute = (
  scene: TurnScene,
  call: Call,
  { known, files }: { readonly known: Known; readonly files: KeptTurn },
): Effect.Effect<void, never, Asking> =>
  Effect.flatMap(Effect.context<Asking>(), (context) =>
    Effect.callback<void>((resume) => {
      const controller = new AbortController()
      const { session, cast, location } = scene
      const { messageID, callID } = call
      const { signal } = controller
      /** For the tool's own code. A stopped call may not ask or record anything more. */
      const promise = async <A>(effect: Effect.Effect<A, Failure | ToolError, Asking>): Promise<A> => {
        signal.throwIfAborted()
        return Effect.runPromiseWith(context)(effect, { signal })
      }
      const asker = {
        session,
        rules: cast.rules,
        ceilings: cast.ceilings,
        project: projectOf(session.transcript().choices.location, location.directory),
        messageID,
        callID,
      }
      const about = { sessionID: session.id, agent: cast.agent.name, messageID, callID }
      const make = (input: Json): Promise<ToolOutput> => {
        known.input = input
        return cast.call(call.tool, input, {
          ...about,
          signal,
          ask: (question) =>
            promise(
              Effect.andThen(
                AskPermission.use(({ ask }) => ask(asker, question)),
                files.before({ tool: call.tool, input }, question),
              ),
            ),
          question: (question) => promise(AskQuestion.use(({ ask }) => ask(asker, question))),
          task: (task) =>
            promise(
              Tasks.use(({ run }) => run({ ...asker, agent: cast.agent, toolNames: namesFor(cast) }, task)),
            ),
          todo: {
            read: async () => session.transcript().choices.todo,
            replace: (items) =>
              promise(session.append([{ type: "session.next.todo.updated.1", data: { items } }])),
          },
        })
      }
      const made =
        cast.hooks === undefined || call.tool === ANSWER_TOOL
          ? make(call.input)
          : callWithHooks(scene, { call: { ...about, ...call }, run: promise, make })
      const running = made
        .then(
          (output): Outcome => ({ kind: "success", output }),
          (cause: unknown): Outcome => ({ kind: "failed", error: recordedError(cause) }),
        )
        .then((outcome) => (known.outcome = outcome))
      void running.then(() => resume(Effect.void))
      // Runs on interruption: tells the tool, gives it time to end what it started, then continues without it.
      return AskPermission.use(({ staysOpen }) => staysOpen(asker)).pipe(
        Effect.map((staysOpen) => {
          known.staysOpen = staysOpen
          controller.abort(new ToolError("interrupted", INTERRUPTED_CALL.message))
        }),
        Effect.andThen(Effect.promise(() => running)),
        Effect.timeoutOption(LIMITS.toolAbortGraceMs),
        Effect.asVoid,
        Effect.provideContext(context),
      )
    }),
  )

/** New instruction files beside what a call has read. */
const discoveries = (
  { session, location, cast }: TurnScene,
  { tool, input }: Call,
): readonly DurableEvent[] => {
  const read = cast.traitsOf(tool).fileRead?.(input)
  if (read === undefined) return []
  const known = new Set(session.transcript().surroundings.discovered)
  return location
    .instructionsBeside(read.path, read.reference)
    .filter((found) => !known.has(found))
    .map((found) => ({ type: "session.next.instruction.discovered.1", data: { path: found } }))
}

/** Events of the call that gives the requested value. */
const answers = (
  { cast }: TurnScene,
  { tool, messageID }: Call,
  outcome: Outcome,
): readonly DurableEvent[] => {
  if (cast.answer !== "tool" || tool !== ANSWER_TOOL) return []
  const owner = messageId(messageID)
  if (outcome.kind === "success")
    return [answered(owner, { kind: "value", value: outcome.output.structured ?? null })]
  return outcome.error.code === "invalid-input"
    ? [answered(owner, { kind: "problem", problem: outcome.error.message })]
    : []
}

/** Adds a note for the model when it goes round in circles. */
const outcomeEvents = (call: Call, outcome: Outcome, row: Row): readonly DurableEvent[] => {
  const repetition = noticeRepetition(row, call, resultOf(outcome))
  const outcomeNoted = outcomeEvent(call, outcome, repetition?.note)
  return repetition === undefined ? [outcomeNoted] : [outcomeNoted, repetitionNoticed(call, repetition)]
}

const resultOf = (outcome: Outcome): Result =>
  outcome.kind === "failed"
    ? { kind: "failed", message: outcome.error.message }
    : { kind: "success", content: outcome.output.content }

export const repetitionNoticed = (
  { messageID, callID, tool }: Call,
  { count }: Repetition,
): DurableEvent => ({
  type: "session.next.repetition.noticed.1",
  data: { assistantMessageID: messageId(messageID), callID, tool, count },
})

const outcomeEvent = (call: Call, outcome: Outcome, note: string | undefined): DurableEvent => {
  const owner = { assistantMessageID: messageId(call.messageID), callID: call.callID }
  if (outcome.kind === "failed") {
    const error =
      note === undefined
        ? outcome.error
        : { ...outcome.error, message: `${outcome.error.message}\n\n${note}` }
    return { type: "session.next.tool.failed.1", data: { ...owner, error } }
  }
  const { content, structured, outputPath } = outcome.output
  return {
    type: "session.next.tool.success.1",
    data: {
      ...owner,
      content: note === undefined ? content : [...content, { type: "text", text: note }],
      ...(structured === undefined ? {} : { structured }),
      ...(outputPath === undefined ? {} : { outputPath }),
    },
  }
}

const STOPPED: Outcome = { kind: "failed", error: INTERRUPTED_CALL }

const recordedError = (cause: unknown): RecordedError => {
  const text = cause instanceof Error ? cause.message : String(cause)
  const message = text.slice(0, LIMITS.recordedErrorCharacters)
  return {
    code: cause instanceof ToolError ? cause.code : "failed",
    message: message === "" ? "The tool failed." : message,
  }
}
