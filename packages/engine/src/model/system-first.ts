/**
 * For providers that accept system messages only before the conversation: later ones become marked blocks in user messages.
 */
import type { PromptMessage } from "../port/model.ts"

/** Copies the list, with new objects only where something differs. */
export const withSystemFirst = (prompt: readonly PromptMessage[]): PromptMessage[] => {
  const shaped = prompt.slice()
  const firstSpoken = shaped.findIndex(({ role }) => role !== "system")
  if (firstSpoken === -1) return shaped
  for (let at = firstSpoken; at < shaped.length; at++) {
    const message = shaped[at]
    if (message?.role === "system") shaped[at] = asUpdate(message.content)
  }
  return shaped
}

const asUpdate = (content: string): PromptMessage => ({
  role: "user",
  content: [
    {
      type: "text",
      text: `<system-update>\n${content.replaceAll(/<(?=\/?system-update>)/g, "&lt;")}\n</system-update>`,
    },
  ],
})
