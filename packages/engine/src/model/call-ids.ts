/**
 * Makes the ids of tool calls acceptable to strict providers. A session may have used a server that restarts its counter
 * every turn, or one with ids of another form. Anthropic refuses repeated ids and unusual characters; OpenAI refuses long
 * ones. Objects that need no change are kept.
 */
import type { PromptMessage } from "../port/model.ts"

const GOOD = /^[\w-]{1,64}$/

type Part = Exclude<PromptMessage["content"], string>[number]

export const withUniqueCallIds = (prompt: readonly PromptMessage[]): readonly PromptMessage[] => {
  const taken = new Set<string>()
  /** For each id of the prompt, the new ids whose results are still to come, in the order of the calls. */
  const renamed = new Map<string, string[]>()
  const changed = { any: false }

  const rename = (part: Part): Part => {
    if (part.type === "tool-call") {
      const id = freeId(part.toolCallId, taken)
      taken.add(id)
      renamed.set(part.toolCallId, [...(renamed.get(part.toolCallId) ?? []), id])
      return id === part.toolCallId ? part : { ...part, toolCallId: id }
    }
    if (part.type !== "tool-result") return part
    const id = renamed.get(part.toolCallId)?.shift() ?? part.toolCallId
    return id === part.toolCallId ? part : { ...part, toolCallId: id }
  }

  const shaped = prompt.map((message) => {
    if (message.role !== "assistant" && message.role !== "tool") return message
    const parts: readonly Part[] = message.content
    const content = parts.map(rename)
    if (content.every((part, at) => part === parts[at])) return message
    changed.any = true
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- the same message with the same kinds of parts
    return { ...message, content } as PromptMessage
  })
  return changed.any ? shaped : prompt
}

/** The id itself when it is valid and unused; otherwise the nearest valid one. */
const freeId = (id: string, taken: ReadonlySet<string>): string => {
  if (GOOD.test(id) && !taken.has(id)) return id
  const base = id.replaceAll(/[^\w-]/g, "_").slice(-56) || "call"
  for (let n = 2; ; n++) {
    const candidate = n === 2 && GOOD.test(base) && !taken.has(base) ? base : `${base}_${n}`
    if (!taken.has(candidate)) return candidate
  }
}
