/**
 * What Anthropic needs of a prompt beyond its shape: marks for its prompt cache, and system messages only at the start. The
 * session shares the prompt, so it is never changed: this makes a copy of the list, with new objects only where something
 * differs.
 */
import type { PromptMessage, ProviderMetadata } from "../port/model.ts"
import { withSystemFirst } from "./system-first.ts"

const CACHED: ProviderMetadata = { anthropic: { cacheControl: { type: "ephemeral" } } }

/** `passing`: this many messages at the end belong to this request alone. */
export const shapeForAnthropic = (
  prompt: readonly PromptMessage[],
  passing = 0,
): readonly PromptMessage[] => {
  const shaped = withSystemFirst(prompt)
  const firstSpoken = shaped.findIndex(({ role }) => role !== "system")
  const lastInstruction = firstSpoken === -1 ? shaped.length - 1 : firstSpoken - 1
  mark(shaped, lastInstruction)
  // Tool results also travel in a user message, so the cache should reach the newest message of either role.
  mark(
    shaped,
    shaped.findLastIndex(
      ({ role }, at) => at < shaped.length - passing && (role === "user" || role === "tool"),
    ),
  )
  return shaped
}

const mark = (prompt: PromptMessage[], index: number): void => {
  const message = prompt[index]
  if (message === undefined) return
  if (message.role === "system") {
    prompt[index] = { ...message, providerOptions: { ...message.providerOptions, ...CACHED } }
    return
  }
  const last = message.content.at(-1)
  if (last === undefined || message.role === "assistant") return
  const marked = { ...last, providerOptions: { ...last.providerOptions, ...withCache(last.providerOptions) } }
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- the same message with the same kinds of parts
  prompt[index] = { ...message, content: [...message.content.slice(0, -1), marked] } as PromptMessage
}

const withCache = (options: ProviderMetadata | undefined): ProviderMetadata => ({
  anthropic: { ...options?.["anthropic"], ...CACHED["anthropic"] },
})
