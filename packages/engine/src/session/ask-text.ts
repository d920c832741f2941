/** Asks a model for one text outside the turns of a session: a summary, a title. */
import type { RecordedUsage } from "@meridian/protocol"
import { Effect } from "effect"

import { ModelFailure, type Model, type ModelRequest } from "../port/model.ts"

export interface TextAnswer {
  readonly text: string
  readonly usage: RecordedUsage
}

export interface TextQuestion {
  readonly model: Model
  readonly request: ModelRequest
  readonly timeoutMs: number
  /** The name of the text, for failure messages. */
  readonly what: string
  /** Receives pieces of the answer as they arrive. */
  readonly onDelta?: (delta: string) => void
}

export const NO_USAGE: RecordedUsage = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0 }

export const askText = (question: TextQuestion): Effect.Effect<TextAnswer, ModelFailure> =>
  Effect.tryPromise({
    try: (signal) => readAnswer(question, signal),
    catch: asModelFailure,
  }).pipe(
    Effect.timeoutOrElse({
      duration: question.timeoutMs,
      orElse: () =>
        Effect.fail(new ModelFailure({ kind: "transport", message: `${question.what} took too long` })),
    }),
  )

const readAnswer = async (
  { model, request, onDelta }: TextQuestion,
  signal: AbortSignal,
): Promise<TextAnswer> => {
  const chunks: string[] = []
  let usage = NO_USAGE
  for await (const event of model.stream(request, signal)) {
    if (event.type === "text-delta") {
      chunks.push(event.delta)
      onDelta?.(event.delta)
    }
    if (event.type === "finish") usage = event.usage
  }
  return { text: chunks.join(""), usage }
}

const asModelFailure = (cause: unknown): ModelFailure => {
  if (cause instanceof ModelFailure) return cause
  return new ModelFailure({
    kind: "unknown",
    message: cause instanceof Error ? cause.message : String(cause),
  })
}
