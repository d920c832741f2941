/**
 * The messages of a session as extensions see them: copies that cannot be written to, made once for each message. What comes
 * back untouched is the session's own message again, so that bytes written for it before are sent again.
 */
import type { PromptMessage } from "../port/model.ts"

export interface FrozenMessages {
  readonly show: (message: PromptMessage) => PromptMessage
  /** Undefined for a message that is not one of ours. */
  readonly own: (shown: unknown) => PromptMessage | undefined
  /** The message that said the same before, where it is still known: its bytes are written already. `text`: it as JSON. */
  readonly same: (made: PromptMessage, text: string) => PromptMessage
}

/** What extensions say again in every request is seldom more. */
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
