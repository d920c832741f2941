/**
 * `sessions.jsonl`, one event a line, each with `"v":1`:
 *
 *   start   a harness was launched for a chat: everything that was resolved (harness, model, agent and skills with their
 *           paths, parameters passed on, working directory). A chat that is continued starts again under the same id.
 *   update  the harness's own session id became known
 *   stop    the harness ended
 *
 * Each start is a record; the newest record of a chat speaks for it. Fields an older writer did not know are empty.
 */
import type { ChatId, Json, RunId } from "@meridian/protocol"

import { asChatId, asRunId } from "./identifier.ts"
import { text, texts, type Fields } from "./json-line.ts"
import { readMark, writeMark, type ProcessMark } from "./process-mark.ts"
import { FORMER_CHAT_KEY } from "./run.ts"

export interface ChatStart {
  readonly chatId: ChatId
  readonly harness: string
  /** Empty until the harness has told it. */
  readonly harnessSessionId: string
  readonly model: string
  readonly agent?: string | undefined
  readonly agentPath?: string | undefined
  readonly skills: readonly string[]
  readonly skillPaths: readonly string[]
  /** Arguments passed on to the harness; the defaults of a continuation. */
  readonly params: readonly string[]
  /** The rights that were asked for; those of a continuation, too. Undefined: profile and configuration decide. */
  readonly permission?: string | undefined
  /** What the harness was really given, by whomever; what is started from the chat never gets more. */
  readonly tier?: string | undefined
  readonly cwd?: string | undefined
  /** Set when the conversation belongs to a run, not to a person at a terminal. */
  readonly runId?: RunId | undefined
  readonly startedAt: string
  readonly holder?: ProcessMark | undefined
  /** Vouches for harness, params and cwd: they were written by this user's Meridian. */
  readonly seal?: string | undefined
}

export interface ChatRecord extends ChatStart {
  readonly stoppedAt?: string | undefined
}

export type ChatEvent =
  | ({ readonly event: "start" } & ChatStart)
  | { readonly event: "update"; readonly chatId: ChatId; readonly harnessSessionId: string }
  | { readonly event: "stop"; readonly chatId: ChatId; readonly stoppedAt: string }

export const decodeChatEvent = (fields: Fields): ChatEvent | undefined => {
  const chat = asChatId(text(fields, "chat_id") ?? text(fields, FORMER_CHAT_KEY))
  if (chat === undefined) return undefined
  switch (fields["event"]) {
    case "start":
      return {
        event: "start",
        chatId: chat,
        harness: text(fields, "harness") ?? "",
        harnessSessionId: text(fields, "harness_session_id") ?? "",
        model: text(fields, "model") ?? "",
        agent: text(fields, "agent"),
        agentPath: text(fields, "agent_path"),
        skills: texts(fields, "skills"),
        skillPaths: texts(fields, "skill_paths"),
        params: texts(fields, "params"),
        permission: text(fields, "permission"),
        tier: text(fields, "tier"),
        cwd: text(fields, "cwd"),
        runId: asRunId(text(fields, "run_id")),
        startedAt: text(fields, "started_at") ?? "",
        holder: readMark(fields, "holder"),
        seal: text(fields, "seal"),
      }
    case "update":
      return { event: "update", chatId: chat, harnessSessionId: text(fields, "harness_session_id") ?? "" }
    case "stop":
      return { event: "stop", chatId: chat, stoppedAt: text(fields, "stopped_at") ?? "" }
    default:
      return undefined
  }
}

export const encodeChatStart = (chat: ChatStart): Record<string, Json | undefined> => ({
  v: 1,
  event: "start",
  chat_id: chat.chatId,
  harness: chat.harness,
  harness_session_id: chat.harnessSessionId,
  model: chat.model,
  agent: chat.agent ?? null,
  agent_path: chat.agentPath ?? null,
  skills: chat.skills,
  skill_paths: chat.skillPaths,
  params: chat.params,
  permission: chat.permission,
  tier: chat.tier,
  cwd: chat.cwd,
  run_id: chat.runId,
  started_at: chat.startedAt,
  seal: chat.seal,
  ...writeMark("holder", chat.holder),
})

export const encodeChatUpdate = (chat: ChatId, harnessSessionId: string): Record<string, Json> => ({
  v: 1,
  event: "update",
  chat_id: chat,
  harness_session_id: harnessSessionId,
})

export const encodeChatStop = (chat: ChatId, stoppedAt: string): Record<string, Json> => ({
  v: 1,
  event: "stop",
  chat_id: chat,
  stopped_at: stoppedAt,
})

/** One record per start, oldest first; update and stop speak of the newest record of their chat. */
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
    if (event.event === "update") records[at] = { ...record, harnessSessionId: event.harnessSessionId }
    else records[at] = { ...record, stoppedAt: event.stoppedAt }
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

/** The last chat a person had; a conversation of a run only when there is no other. */
export const lastChat = (records: readonly ChatRecord[]): ChatRecord | undefined =>
  records.findLast((record) => record.runId === undefined) ?? records.at(-1)
