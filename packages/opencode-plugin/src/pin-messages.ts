/**
 * The pinned part among the messages of a request: one message of ours after the summary, and one per update after the
 * message where it was made. Only for this request; nothing is stored in the host.
 */
import { fieldOf, listField, textField } from "./field.ts"
import { isSummary } from "./history.ts"
import type { Told } from "./told.ts"

export interface Compacted {
  readonly messages: unknown[]
  /** The id of the newest summary. */
  readonly summary: string
  /** The message that a new update would follow: the last one, or the last one before an unanswered prompt. */
  readonly last: string
}

/** Undefined when the conversation was not compacted, or this cannot be determined. */
export const compactedMessages = (output: unknown): Compacted | undefined => {
  const messages = fieldOf(output, "messages")
  if (!Array.isArray(messages)) return undefined
  const summary = idOf(messages.findLast(isSummary))
  if (summary === undefined) return undefined
  const end = messages.findLastIndex((message) => !isUser(message))
  const last = idOf(messages.at(isUser(messages.at(-1)) ? end : -1)) ?? summary
  return { messages, summary, last }
}

/** Every message that the updates follow still exists. */
export const holds = ({ messages }: Compacted, { updates }: Told): boolean =>
  updates.every(({ after }) => messages.some((message) => idOf(message) === after))

/**
 * Changes the list in place, because the host keeps its own. Does not repeat what another copy of the plugin has inserted.
 */
export const insertTold = ({ messages }: Compacted, told: Told): void => {
  const texts = [{ after: told.summary, text: told.baseline }, ...told.updates]
  for (const [number, { after, text }] of texts.entries()) {
    if (
      messages.some((message) => listField(message, "parts").some((part) => fieldOf(part, "text") === text))
    )
      continue
    const at = messages.findLastIndex((message) => idOf(message) === after)
    const behind = messages.findIndex((message, index) => index > at && !isOurs(message))
    messages.splice(behind === -1 ? messages.length : behind, 0, messageOf(messages, number, text))
  }
}

const OURS = "msg_meridian"

const isOurs = (message: unknown): boolean => idOf(message)?.startsWith(OURS) === true

/** Like a user message, but synthetic: nobody typed it. */
const messageOf = (messages: readonly unknown[], number: number, text: string): object => {
  const info = fieldOf(messages.find(isUser), "info")
  const known = typeof info === "object" && info !== null ? info : {}
  const id = `${OURS}_${number}`
  const sessionID = textField(info, "sessionID") ?? ""
  return {
    info: { ...known, id, sessionID, role: "user" },
    parts: [{ id: `prt_${id}`, sessionID, messageID: id, type: "text", text, synthetic: true }],
  }
}

const isUser = (message: unknown): boolean => textField(fieldOf(message, "info"), "role") === "user"

const idOf = (message: unknown): string | undefined => textField(fieldOf(message, "info"), "id")
