/**
 * Chats, folded from the events of `sessions.jsonl` (`chat-record.ts` describes the format). Each start is a record;
 * the newest record of a chat speaks for it.
 */
import type { ChatId } from "@meridian/protocol"

import {
  decodeChatRecord,
  encodeChatStart as encodeStart,
  type ChatEventRecord,
  type ChatStartRecord,
} from "./chat-record.ts"
import type { Fields } from "./json-line.ts"
import { asMark, type ProcessMark } from "./process-mark.ts"
import type { WrittenRecord } from "./record.ts"

export type ChatStart = Omit<ChatStartRecord, "event" | "holderPid" | "holderStarted"> & {
  readonly holder?: ProcessMark | undefined
}

export interface ChatRecord extends ChatStart {
  readonly stoppedAt?: string | undefined
}

export type ChatEvent = ({ readonly event: "start" } & ChatStart) | Exclude<ChatEventRecord, ChatStartRecord>

/** Undefined for lines that are not events of a chat. Throws RECORD_NEWER. */
export const decodeChatEvent = (fields: Fields, file: string): ChatEvent | undefined => {
  const record = decodeChatRecord(fields, file)
  if (record?.event !== "start") return record
  const { holderPid, holderStarted, ...start } = record
  return { ...start, holder: asMark(holderPid, holderStarted) }
}

export const encodeChatStart = ({ holder, ...start }: ChatStart): WrittenRecord =>
  encodeStart({ event: "start", ...start, holderPid: holder?.pid, holderStarted: holder?.started })

/** One record per start, oldest first. Every other event belongs to the newest record of its chat. */
export const replayChats = (events: Iterable<ChatEvent>): readonly ChatRecord[] => {
  const records: ChatRecord[] = []
  const newest = new Map<ChatId, number>()
  for (const event of events) {
    if (event.event === "start") {
      const { event: _, ...start } = event
      newest.set(event.chatId, records.push(start) - 1)
      continue
    }
    const at = newest.get(event.chatId)
    const record = at === undefined ? undefined : records[at]
    if (at === undefined || record === undefined) continue
    switch (event.event) {
      case "update":
        records[at] = { ...record, harnessSessionId: event.harnessSessionId }
        break
      case "stop":
        records[at] = { ...record, stoppedAt: event.stoppedAt }
        break
      case "moved":
        records[at] = { ...record, cwd: event.cwd, params: event.params, seal: event.seal }
        break
    }
  }
  return records
}

/** The newest record of each chat, in the order those records started. */
export const newestPerChat = (records: readonly ChatRecord[]): readonly ChatRecord[] => {
  const newest = new Map<ChatId, ChatRecord>()
  for (const record of records) {
    newest.delete(record.chatId)
    newest.set(record.chatId, record)
  }
  return [...newest.values()]
}

/** The newest record that a chat id or a harness's own session id names. */
export const findChat = (records: readonly ChatRecord[], reference: string): ChatRecord | undefined =>
  records.findLast((record) => record.chatId === reference) ??
  records.findLast((record) => record.harnessSessionId !== "" && record.harnessSessionId === reference)

/** The last chat a person had. A run's conversation counts only if there is no other. */
export const lastChat = (records: readonly ChatRecord[]): ChatRecord | undefined =>
  records.findLast((record) => record.runId === undefined) ?? records.at(-1)
