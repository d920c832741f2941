/**
 * The messages of a session as extensions see them: frozen copies, made once per message. A copy that comes back unchanged
 * is mapped to the session's own message again, so that its written bytes are reused.
 */
import type { PromptMessage } from "../port/model.ts"

export interface FrozenMessages {
  readonly show: (message: PromptMessage) => PromptMessage
  /** The session's message behind a frozen copy; undefined for any other value. */
  readonly own: (shown: unknown) => PromptMessage | undefined
  /**
   * An earlier message with the same content, if still known, so that its written bytes are reused. `text`: the message as
   * JSON.
   */
  readonly same: (made: PromptMessage, text: string) => PromptMessage
}

/** Extensions seldom repeat more than this in every request. */
const MOST_MADE = 256
const LONGEST_MADE = 64 * 1024

export const openFrozenMessages = (): FrozenMessages => {
  const shownOf = new WeakMap<PromptMessage, PromptMessage>()
  const ownOf = new WeakMap<object, PromptMessage>()
  const madeOf = new Map<string, PromptMessage>()
  return {
    show: (message) => {
      const known = shownOf.get(message)
      if (known !== undefined) return known
      const shown = freeze(structuredClone(message))
      shownOf.set(message, shown)
      ownOf.set(shown, message)
      return shown
    },
    same: (made, text) => {
      const known = madeOf.get(text)
      if (known !== undefined || text.length > LONGEST_MADE) return known ?? made
      if (madeOf.size >= MOST_MADE) madeOf.clear()
      madeOf.set(text, made)
      return made
    },
    own: (shown) => (typeof shown === "object" && shown !== null ? ownOf.get(shown) : undefined),
  }
}

export const freeze = <Value>(value: Value): Value => {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value
  for (const inner of Object.values(value)) freeze(inner)
  return Object.freeze(value)
}
