/** The request of a turn: baseline, history, tools; and what it weighs. */
import type { PromptMessage } from "../domain/prompt.ts"
import { estimateText } from "../domain/tokens.ts"
import type { Transcript } from "../domain/transcript.ts"
import type { ModelRequest } from "../port/model.ts"
import type { Cast } from "./cast.ts"
import type { History } from "./histories.ts"

/** Estimated tokens. */
export interface Weight {
  readonly request: number
  /** Of them, what is not history. */
  readonly overhead: number
}

export const weighRequest = (history: History, cast: Cast): Weight => {
  const { transcript, estimator } = history
  const overhead = overheadOf(cast, systemMessages(cast, transcript), history.toolTokens)
  return { overhead, request: estimator.request(transcript, { model: cast.model.id, overhead }) }
}

export const buildRequest = (sessionID: string, history: History, cast: Cast): ModelRequest => {
  const { transcript, lowering } = history
  const { model, advertisements } = cast
  return {
    prompt: [
      ...systemMessages(cast, transcript),
      ...lowering.prompt(transcript.items, {
        model: model.id,
        systemInHistory: model.systemInHistory,
        compactedSeq: transcript.compactedSeq(),
        prunedSeq: transcript.prunedSeq(),
      }),
    ],
    tools: advertisements,
    sessionID,
    maxOutputTokens: model.maxOutput,
  }
}

const IDENTITY =
  "You are a coding agent. You work on the user's project with the tools you are given; paths are relative to the working directory. Go on until the task is done, then say briefly what you did."

const systemMessages = (cast: Cast, transcript: Transcript): readonly PromptMessage[] => {
  const baseline = transcript.epoch()?.baseline ?? ""
  return [
    { role: "system", content: cast.agent.prompt ?? IDENTITY },
    ...(baseline === "" ? [] : [{ role: "system", content: baseline } as const]),
  ]
}

const overheadOf = (cast: Cast, system: readonly PromptMessage[], weights: History["toolTokens"]): number => {
  let tokens = 0
  for (const message of system) tokens += estimateText(message.role === "system" ? message.content : "")
  for (const tool of cast.advertisements) {
    const known = weights.get(tool) ?? estimateText(JSON.stringify(tool))
    weights.set(tool, known)
    tokens += known
  }
  return tokens
}
