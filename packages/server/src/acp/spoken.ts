/**
 * What a model says reaches a client twice: in fragments while it speaks, then as one durable text. This fold gives every
 * character once. The two ways keep their own order but not a common one, so what was streamed is remembered until its
 * durable text has come, and what a durable text said before its last fragments is counted and not said again.
 */
export type SpokenKind = "text" | "reasoning"

export interface Spoken {
  /** What of a fragment is new. */
  readonly fragment: (kind: SpokenKind, messageID: string, delta: string) => string
  /** What of a durable text has not been streamed. */
  readonly whole: (kind: SpokenKind, messageID: string, text: string) => string
  /** Fragments were lost: durable texts tell the rest of this message. */
  readonly miss: () => void
  /** The message is over, nothing more of it is streamed. */
  readonly end: (messageID: string) => void
}

interface Message {
  streamed: { readonly kind: SpokenKind; text: string }[]
  /** Characters a durable text was ahead of the fragments. */
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
