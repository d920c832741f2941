/**
 * What Gemini needs of a prompt beyond its shape: system messages only at the start, as Anthropic, and no message without
 * content, which it refuses. The prompt is shared with the session, so nothing of it is changed.
 */
import type { PromptMessage } from "../port/model.ts"
import { withSystemFirst } from "./system-first.ts"

export const shapeForGoogle = (prompt: readonly PromptMessage[]): readonly PromptMessage[] =>
  withSystemFirst(prompt).filter(hasContent)

/** From Gemini 2.5 on a model thinks and shows it when asked; the older ones refuse the question. */
export const showsThoughts = (model: string): boolean => /gemini-(2\.5|[3-9]|\d\d)/.test(model)

const hasContent = (message: PromptMessage): boolean =>
  typeof message.content === "string" ||
  message.content.some((part) => !("text" in part) || part.text !== "" || part.providerOptions !== undefined)
