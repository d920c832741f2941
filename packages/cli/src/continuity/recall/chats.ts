/** Chats and runs of every space of a project, with their harness's id of the conversation. */
import { openGuardedReader } from "@meridian/continuity"
import { parseObject, textAt } from "@meridian/protocol"

/** A conversation of a space. */
export interface Chat {
  readonly chat: string
  /** The harness's id for it. */
  readonly session: string
}

const MOST_SPACES = 200

/** The newest record of each chat. Skips lines it does not understand. */
export const readChats = (stateRoot: string): readonly Chat[] => {
  const reader = openGuardedReader(`${stateRoot}/.spaces`)
  const spaces = reader.list(".")
  if (spaces.kind !== "entries") return []
  return spaces.entries
    .filter(({ name, type }) => type === "folder" && /^s\d{1,9}$/.test(name))
    .slice(-MOST_SPACES)
    .flatMap(({ name }) => {
      const log = reader.read(`${name}/sessions.jsonl`, { part: "tail" })
      return log.kind === "text" ? chatsIn(log.text) : []
    })
}

const chatsIn = (log: string): readonly Chat[] => {
  const chats = new Map<string, Chat>()
  for (const line of log.split("\n")) {
    const event = parseObject(line)
    const chat = textAt(event, "chat_id")
    if (chat === undefined) continue
    const known = chats.get(chat)
    const session = textAt(event, "harness_session_id") ?? known?.session ?? ""
    chats.set(chat, { chat, session })
  }
  return [...chats.values()].filter(({ session }) => session !== "")
}
