/** The projected messages of a session, as readers get them. One assistant message is one provider turn. */
import { RECORDED_OVERRIDES_FIELDS } from "./prompt-overrides.ts"
import {
  COMPACTION_METHOD,
  COMPACTION_REASON,
  DELIVERY,
  EVENT_RANGE,
  PROMPT_FILE,
  PROMPT_PART,
  RECORDED_PROMPT,
  RECORDED_CONTENT,
  RECORDED_ERROR,
  RECORDED_FACT,
  RECORDED_USAGE,
  TOKENS_AROUND,
  TOOL_KIND,
} from "./recorded.ts"
import {
  ANY,
  ANY_OBJECT,
  BOOLEAN,
  COUNT,
  described,
  listOf,
  named,
  NUMBER,
  objectOf,
  oneOf,
  STRING,
  taggedBy,
  type TypeOf,
} from "./shape/shape.ts"

export const TIME = described(COUNT, "Milliseconds since 1970.")
export const SEQ = described(COUNT, "Position in the session's log.")

export const TOOL_STATE = taggedBy(
  "status",
  objectOf({ status: oneOf("running") }),
  /** Waits for the answer to a permission request. */
  objectOf({ status: oneOf("waiting"), requestID: STRING }),
  objectOf(
    { status: oneOf("completed"), content: listOf(RECORDED_CONTENT) },
    { structured: ANY, outputPath: STRING, result: ANY, metadata: ANY_OBJECT },
  ),
  objectOf({ status: oneOf("error"), error: RECORDED_ERROR }, { result: ANY, metadata: ANY_OBJECT }),
)
export type ToolState = TypeOf<typeof TOOL_STATE>

export const ASSISTANT_PART = taggedBy(
  "type",
  objectOf({ type: oneOf("text"), text: STRING }, { metadata: ANY_OBJECT, partial: BOOLEAN }),
  objectOf({ type: oneOf("reasoning"), text: STRING }, { metadata: ANY_OBJECT, partial: BOOLEAN }),
  objectOf(
    { type: oneOf("tool"), callID: STRING, tool: STRING, state: TOOL_STATE },
    { input: ANY, raw: STRING, hosted: BOOLEAN, kind: TOOL_KIND, metadata: ANY_OBJECT },
  ),
)
export type AssistantPart = TypeOf<typeof ASSISTANT_PART>

const EVERY_MESSAGE = {
  id: STRING,
  /** The sequence of the event that made the message visible. It orders messages. */
  seq: SEQ,
  time: TIME,
}

export const SESSION_MESSAGE = named(
  "Message",
  taggedBy(
    "type",
    objectOf(
      { ...EVERY_MESSAGE, type: oneOf("user"), text: STRING },
      { files: listOf(PROMPT_FILE), parts: listOf(PROMPT_PART), from: oneOf("task") },
    ),
    /** Added by the embedding program. No person wrote it. */
    objectOf({ ...EVERY_MESSAGE, type: oneOf("synthetic"), text: STRING }),
    objectOf(
      {
        ...EVERY_MESSAGE,
        type: oneOf("assistant"),
        agent: STRING,
        model: STRING,
        content: listOf(ASSISTANT_PART),
      },
      {
        finish: STRING,
        usage: RECORDED_USAGE,
        cost: NUMBER,
        error: RECORDED_ERROR,
        output: described(ANY, "The value in the form that the prompt asked for."),
      },
    ),
    /** Context that changed while the session ran. */
    objectOf({ ...EVERY_MESSAGE, type: oneOf("system"), text: STRING }),
    objectOf({
      ...EVERY_MESSAGE,
      type: oneOf("compaction"),
      reason: COMPACTION_REASON,
      summary: STRING,
      recent: STRING,
    }),
    objectOf({ ...EVERY_MESSAGE, type: oneOf("agent-switched"), agent: STRING }),
    objectOf({ ...EVERY_MESSAGE, type: oneOf("model-switched"), model: STRING }),
  ),
)
export type SessionMessage = TypeOf<typeof SESSION_MESSAGE>

/** An admitted input: the answer to a prompt and to every exact retry of it. */
export const RECEIPT = named(
  "Receipt",
  objectOf(
    {
      id: STRING,
      sessionID: STRING,
      prompt: RECORDED_PROMPT,
      delivery: DELIVERY,
      resume: BOOLEAN,
      admittedSeq: SEQ,
      time: TIME,
    },
    { promotedSeq: SEQ, cancelledSeq: SEQ, ...RECORDED_OVERRIDES_FIELDS },
  ),
)
export type Receipt = TypeOf<typeof RECEIPT>

/** What one compaction kept and dropped. */
export const COMPACTION_RECEIPT = named(
  "CompactionReceipt",
  objectOf(
    {
      id: STRING,
      reason: COMPACTION_REASON,
      status: oneOf("started", "ended", "failed"),
      seq: SEQ,
      time: TIME,
      inForce: described(BOOLEAN, "Whether its checkpoint is the one that the model sees now."),
    },
    {
      method: COMPACTION_METHOD,
      range: EVENT_RANGE,
      tokens: TOKENS_AROUND,
      /** How many messages the summary replaces. */
      messages: COUNT,
      kept: listOf(STRING),
      summary: STRING,
      facts: listOf(RECORDED_FACT),
      removedQuotes: listOf(STRING),
      fallback: STRING,
      usage: RECORDED_USAGE,
      cost: NUMBER,
      error: RECORDED_ERROR,
    },
  ),
)
export type CompactionReceipt = TypeOf<typeof COMPACTION_RECEIPT>
