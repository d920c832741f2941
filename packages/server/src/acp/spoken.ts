/**
 * A model's text reaches a client twice: as live fragments, then as one durable text. This fold passes on every character
 * once. Both ways keep their own order but not a common one. So streamed text is remembered until its durable text arrives,
 * and when a durable text is ahead of its last fragments, those characters are counted and skipped later.
 */
export type SpokenKind = "text" | "reasoning"

export interface Spoken {
  /** Returns the new part of a fragment. */
  readonly fragment: (kind: SpokenKind, messageID: string, delta: string) => string
  /** Returns the part of a durable text that was not streamed. */
  readonly whole: (kind: SpokenKind, messageID: string, text: string) => string
  /** Fragments were lost. From now on durable texts supply the rest of each message. */
  readonly miss: () => void
  /** The message is over; nothing more of it is streamed. */
  readonly end: (messageID: string) => void
}

interface Message {
  streamed: { readonly kind: SpokenKind; text: string }[]
  /** How many characters durable texts are ahead of the fragments. */
  surplus: number
  missing: boolean
}

export const openSpoken = (): Spoken => {
  const messages = new Map<string, Message>()
  const open = (id: string): Message => {
    const message = messages.get(id) ?? { streamed: [], surplus: 0, missing: false }
    messages.set(id, message)
    return message
  }
  return {
    fragment: (kind, messageID, delta) => {
      const message = open(messageID)
      if (message.missing) return ""
      const late = Math.min(message.surplus, delta.length)
      message.surplus -= late
      const fresh = delta.slice(late)
      if (fresh === "") return ""
      const last = message.streamed.at(-1)
      if (last?.kind === kind) last.text += fresh
      else message.streamed.push({ kind, text: fresh })
      return fresh
    },
    whole: (kind, messageID, text) => {
      const message = open(messageID)
      const said = message.streamed.find((part) => part.kind === kind)
      const streamed = said?.text ?? ""
      // Two texts in a row look like one while they are streamed.
      if (said !== undefined && streamed.length > text.length && streamed.startsWith(text)) {
        said.text = streamed.slice(text.length)
        return ""
      }
      message.streamed = message.streamed.filter((part) => part !== said)
      const rest = text.startsWith(streamed) ? text.slice(streamed.length) : text
      if (!message.missing) message.surplus += rest.length
      return rest
    },
    miss: () => {
      for (const message of messages.values()) message.missing = true
    },
    end: (messageID) => void messages.delete(messageID),
  }
}
