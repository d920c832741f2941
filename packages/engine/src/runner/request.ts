/** The request of a turn: baseline, history, tools; and what it will weigh. */
import type { PromptMessage } from "../domain/prompt.ts"
import { estimateText } from "../domain/tokens.ts"
import type { ModelRequest } from "../port/model.ts"
import type { Cast } from "./cast.ts"
import type { History } from "./histories.ts"

export interface BuiltRequest {
  readonly request: ModelRequest
  /** Estimated tokens of the whole. */
  readonly tokens: number
  /** Of them, what is not history. */
  readonly overhead: number
}

export const buildRequest = (sessionID: string, history: History, cast: Cast): BuiltRequest => {
  const { transcript, lowering, estimator } = history
  const { model, advertisements } = cast
  const system = systemMessages(cast, transcript.epoch()?.baseline ?? "")
  const overhead = overheadOf(cast, system, history.toolTokens)
  const request: ModelRequest = {
    prompt: [
      ...system,
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
  return { request, overhead, tokens: estimator.request(transcript, { model: model.id, overhead }) }
}

const IDENTITY =
  "You are a coding agent. You work on the user's project with the tools you are given; paths are relative to the working directory. Go on until the task is done, then say briefly what you did."

const systemMessages = (cast: Cast, baseline: string): readonly PromptMessage[] => [
  { role: "system", content: cast.agent.prompt ?? IDENTITY },
  ...(baseline === "" ? [] : [{ role: "system", content: baseline } as const]),
]

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
