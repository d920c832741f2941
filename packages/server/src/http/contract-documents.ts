/** The documents that travel: engine sessions as the engine tells them, spaces in camelCase and without directories. */
import type { OpenPermissionRequest, SessionInfo } from "@meridian/engine"
import type {
  AssistantPart,
  CompactionReceipt,
  Location,
  Prompt,
  Receipt,
  RecordedContent,
  RecordedError,
  RecordedUsage,
  SessionMessage,
  ToolState,
} from "@meridian/protocol"

import {
  ANY,
  ANY_OBJECT,
  anyOf,
  BOOLEAN,
  COUNT,
  described,
  listOf,
  named,
  NUMBER,
  objectOf,
  oneOf,
  STRING,
  text,
  type DocumentOf,
  type Shape,
} from "./contract-shape.ts"

const TIME = described(COUNT, "Milliseconds since 1970.")
const SEQ = described(COUNT, "Place in the session's log.")

export const LOCATION: Shape<Location> = objectOf({
  directory: described(text(4_096), "An absolute path. There is no default."),
})

export const PROMPT: Shape<Prompt> = objectOf(
  { text: STRING },
  { files: listOf(objectOf({ mediaType: STRING, base64: STRING }, { name: STRING })) },
)

export const DELIVERY = described(
  oneOf("steer", "queue"),
  "steer joins the work at the next safe boundary, queue waits until it has settled.",
)

const USAGE: Shape<RecordedUsage> = objectOf({
  input: COUNT,
  output: COUNT,
  reasoning: COUNT,
  cacheRead: COUNT,
  cacheWrite: COUNT,
})

const ERROR: Shape<RecordedError> = objectOf(
  { code: STRING, message: STRING },
  { status: COUNT, retryAfterMs: COUNT },
)

export const SESSION: Shape<SessionInfo> = named(
  "Session",
  objectOf(
    {
      id: STRING,
      location: LOCATION,
      agent: STRING,
      seq: described(COUNT, "Sequence of the last event."),
      status: oneOf("idle", "running", "waiting", "interrupted", "failed"),
      usage: USAGE,
      cost: NUMBER,
      time: objectOf({ created: TIME, updated: TIME }),
    },
    { model: STRING, title: STRING },
  ),
)

export const RECEIPT: Shape<Receipt> = named(
  "Receipt",
  objectOf(
    {
      id: STRING,
      sessionID: STRING,
      prompt: PROMPT,
      delivery: DELIVERY,
      resume: BOOLEAN,
      admittedSeq: SEQ,
      time: TIME,
    },
    { promotedSeq: SEQ, cancelledSeq: SEQ },
  ),
)

const CONTENT: Shape<RecordedContent> = anyOf(
  objectOf({ type: oneOf("text"), text: STRING }),
  objectOf({ type: oneOf("media"), mediaType: STRING, base64: STRING }),
)

const TOOL_STATE: Shape<ToolState> = anyOf(
  objectOf({ status: oneOf("running") }),
  objectOf({ status: oneOf("waiting"), requestID: STRING }),
  objectOf(
    { status: oneOf("completed"), content: listOf(CONTENT) },
    { structured: ANY, outputPath: STRING, result: ANY, metadata: ANY_OBJECT },
  ),
  objectOf({ status: oneOf("error"), error: ERROR }, { result: ANY, metadata: ANY_OBJECT }),
)

const PART: Shape<AssistantPart> = anyOf(
  objectOf({ type: oneOf("text"), text: STRING }, { metadata: ANY_OBJECT, partial: BOOLEAN }),
  objectOf({ type: oneOf("reasoning"), text: STRING }, { metadata: ANY_OBJECT, partial: BOOLEAN }),
  objectOf(
    { type: oneOf("tool"), callID: STRING, tool: STRING, state: TOOL_STATE },
    { input: ANY, raw: STRING, hosted: BOOLEAN, metadata: ANY_OBJECT },
  ),
)

const MESSAGE_BASE = { id: STRING, seq: SEQ, time: TIME }
const REASON = oneOf("auto", "overflow", "manual")

export const MESSAGE: Shape<SessionMessage> = named(
  "Message",
  anyOf(
    objectOf(
      { ...MESSAGE_BASE, type: oneOf("user"), text: STRING },
      { files: listOf(objectOf({ mediaType: STRING, base64: STRING }, { name: STRING })) },
    ),
    objectOf(
      { ...MESSAGE_BASE, type: oneOf("assistant"), agent: STRING, model: STRING, content: listOf(PART) },
      { finish: STRING, usage: USAGE, cost: NUMBER, error: ERROR },
    ),
    objectOf({ ...MESSAGE_BASE, type: oneOf("system"), text: STRING }),
    objectOf({
      ...MESSAGE_BASE,
      type: oneOf("compaction"),
      reason: REASON,
      summary: STRING,
      recent: STRING,
    }),
    objectOf({ ...MESSAGE_BASE, type: oneOf("agent-switched"), agent: STRING }),
    objectOf({ ...MESSAGE_BASE, type: oneOf("model-switched"), model: STRING }),
  ),
)

export const COMPACTION: Shape<CompactionReceipt> = named(
  "CompactionReceipt",
  objectOf(
    {
      id: STRING,
      reason: REASON,
      status: oneOf("started", "ended", "failed"),
      seq: SEQ,
      time: TIME,
      inForce: described(BOOLEAN, "Whether its checkpoint is the one the model sees now."),
    },
    {
      method: oneOf("model", "extract"),
      range: objectOf({ from: SEQ, through: SEQ }),
      tokens: objectOf({ before: COUNT, after: COUNT }),
      messages: COUNT,
      kept: listOf(STRING),
      summary: STRING,
      facts: listOf(objectOf({ kind: STRING, text: STRING, source: STRING })),
      removedQuotes: listOf(STRING),
      fallback: STRING,
      usage: USAGE,
      cost: NUMBER,
      error: ERROR,
    },
  ),
)

export const PERMISSION_REQUEST: Shape<OpenPermissionRequest> = named(
  "PermissionRequest",
  objectOf({
    id: STRING,
    sessionID: STRING,
    messageID: STRING,
    callID: STRING,
    action: STRING,
    resource: STRING,
    resources: listOf(STRING),
    title: STRING,
    time: TIME,
  }),
)

export const MODEL = named(
  "Model",
  objectOf({ id: STRING, provider: STRING, contextWindow: COUNT, maxOutput: COUNT, isDefault: BOOLEAN }),
)
export type ModelDocument = DocumentOf<typeof MODEL>
