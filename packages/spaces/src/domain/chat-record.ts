/**
 * `sessions.jsonl`, one event a line, each with its version in `v` (still 1):
 *
 *   start   a harness was launched for a chat: everything that was resolved (harness, model, agent and skills with their
 *           paths, parameters passed on, working directory). A continued chat starts again under the same id.
 *   update  the harness's own session id became known
 *   stop    the harness ended
 *   moved   the project was moved; where the chat works now, sealed for the new place
 */
import {
  CHAT_ID,
  COUNT,
  listOf,
  objectOf,
  oneOf,
  RUN_ID,
  STRING,
  wordAt,
  type TypeOf,
} from "@meridian/protocol"

import { asChatId, asRunId } from "./identifier.ts"
import { number, text, texts, type Fields } from "./json-line.ts"
import { recordDecoder, recordEncoder, type RecordOf, type WrittenRecord } from "./record.ts"
import { FORMER_CHAT_KEY } from "./run-record.ts"

const VERSION = 1

const START = objectOf(
  {
    event: oneOf("start"),
    chatId: CHAT_ID,
    harness: STRING,
    /** Empty until the harness reports it. */
    harnessSessionId: STRING,
    model: STRING,
    skills: listOf(STRING),
    skillPaths: listOf(STRING),
    /** Arguments passed on to the harness, and the defaults of a continuation. */
    params: listOf(STRING),
    startedAt: STRING,
  },
  {
    agent: STRING,
    agentPath: STRING,
    /** The requested rights; a continuation asks for the same. If absent, profile and configuration decide. */
    permission: STRING,
    /** The tier the harness really got, from any source. Nothing started from the chat gets more. */
    tier: STRING,
    cwd: STRING,
    /** Set if the conversation belongs to a run rather than to a person at a terminal. */
    runId: RUN_ID,
    holderPid: COUNT,
    holderStarted: STRING,
    /** Proves that this user's Meridian wrote harness, params and cwd. */
    seal: STRING,
    /** The requested task, as it is pinned after a compaction. Continuity reads it. */
    task: STRING,
  },
)

const UPDATE = objectOf({ event: oneOf("update"), chatId: CHAT_ID, harnessSessionId: STRING })

const STOP = objectOf({ event: oneOf("stop"), chatId: CHAT_ID, stoppedAt: STRING })

const MOVED = objectOf({
  event: oneOf("moved"),
  chatId: CHAT_ID,
  cwd: STRING,
  params: listOf(STRING),
  seal: STRING,
})

export type ChatStartRecord = RecordOf<typeof START>
export type ChatEventRecord =
  | ChatStartRecord
  | TypeOf<typeof UPDATE>
  | TypeOf<typeof STOP>
  | TypeOf<typeof MOVED>

const encodeStart = recordEncoder(VERSION, START)

export const encodeChatStart = (record: ChatStartRecord): WrittenRecord => ({
  agent: null,
  agent_path: null,
  ...encodeStart(record),
})

export const encodeChatUpdate = recordEncoder(VERSION, UPDATE)

export const encodeChatStop = recordEncoder(VERSION, STOP)

export const encodeChatMoved = recordEncoder(VERSION, MOVED)

export const decodeChatRecord: (line: Fields, file: string) => ChatEventRecord | undefined =
  recordDecoder<ChatEventRecord>({ first: (line) => readFirst(line) })

/** Version 1 grew over time, and older lines have no version. Missing fields are read as empty. */
const readFirst = (fields: Fields): ChatEventRecord | undefined => {
  const chatId = asChatId(text(fields, "chat_id") ?? text(fields, FORMER_CHAT_KEY))
  if (chatId === undefined) return undefined
  switch (wordAt(fields, "event")) {
    case "start":
      return {
        event: "start",
        chatId,
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
        holderPid: number(fields, "holder_pid"),
        holderStarted: text(fields, "holder_started"),
        seal: text(fields, "seal"),
      }
    case "update":
      return { event: "update", chatId, harnessSessionId: text(fields, "harness_session_id") ?? "" }
    case "stop":
      return { event: "stop", chatId, stoppedAt: text(fields, "stopped_at") ?? "" }
    case "moved":
      return {
        event: "moved",
        chatId,
        cwd: text(fields, "cwd") ?? "",
        params: texts(fields, "params"),
        seal: text(fields, "seal") ?? "",
      }
    default:
      return undefined
  }
}
