/** The values that events and messages are made of, as the log keeps them. */
import {
  ANY,
  BOOLEAN,
  COUNT,
  listOf,
  mapOf,
  NUMBER,
  objectOf,
  oneOf,
  STRING,
  taggedBy,
  type TypeOf,
} from "./shape/shape.ts"

export const DELIVERY = oneOf("steer", "queue")
export type Delivery = TypeOf<typeof DELIVERY>

export const LOCATION = objectOf(
  {
    /** Absolute path. */
    directory: STRING,
  },
  {
    /** Kept as it was given; without one the directory is a place of this machine. */
    workspaceID: STRING,
  },
)
export type Location = TypeOf<typeof LOCATION>

export const PROMPT_FILE = objectOf({ mediaType: STRING, base64: STRING }, { name: STRING })
export type PromptFile = TypeOf<typeof PROMPT_FILE>

export const PROMPT = objectOf({ text: STRING }, { files: listOf(PROMPT_FILE) })
export type Prompt = TypeOf<typeof PROMPT>

const EVERY_PART = {
  /** As it was written: `@src/a.ts#10-40`. */
  source: STRING,
}

const EVERY_FOUND_PART = {
  ...EVERY_PART,
  /** A path or an address; of a command or an agent its name. */
  name: STRING,
  /** How large the source is, and the SHA-256 of what was taken of it. */
  bytes: COUNT,
  sha256: STRING,
}

/** What a prompt named, as it was when the prompt was admitted. */
export const PROMPT_PART = taggedBy(
  "type",
  objectOf(
    {
      type: oneOf("text"),
      kind: oneOf("file", "directory", "resource", "agent", "command"),
      ...EVERY_FOUND_PART,
      text: STRING,
    },
    {
      /** Lines, from 1. */
      from: COUNT,
      through: COUNT,
      /** There is more of it. */
      cut: BOOLEAN,
    },
  ),
  objectOf({ type: oneOf("media"), ...EVERY_FOUND_PART, mediaType: STRING, base64: STRING }),
  objectOf({ type: oneOf("unreadable"), ...EVERY_PART, problem: STRING }),
)
export type PromptPart = TypeOf<typeof PROMPT_PART>

/** A prompt as it was admitted. */
export const RECORDED_PROMPT = objectOf(
  { text: STRING },
  {
    files: listOf(PROMPT_FILE),
    parts: listOf(PROMPT_PART),
    /** Who wrote it, when it was no person: a call that worked in the background. */
    from: oneOf("task"),
  },
)
export type RecordedPrompt = TypeOf<typeof RECORDED_PROMPT>

export const RECORDED_ERROR = objectOf(
  {
    /** A code of the failure catalogue, or the kind of a model or tool failure. */
    code: STRING,
    message: STRING,
  },
  {
    /** Of the provider's answer, when a model failed with one. */
    status: NUMBER,
    /** How long the provider asks to stay away. */
    retryAfterMs: NUMBER,
  },
)
export type RecordedError = TypeOf<typeof RECORDED_ERROR>

export const RECORDED_USAGE = objectOf({
  input: COUNT,
  output: COUNT,
  reasoning: COUNT,
  cacheRead: COUNT,
  cacheWrite: COUNT,
})
export type RecordedUsage = TypeOf<typeof RECORDED_USAGE>

export const RECORDED_CONTENT = taggedBy(
  "type",
  objectOf({ type: oneOf("text"), text: STRING }),
  objectOf({ type: oneOf("media"), mediaType: STRING, base64: STRING }),
)
export type RecordedContent = TypeOf<typeof RECORDED_CONTENT>

/**
 * `always` saves an approval for the project: this command, this file. `session` answers a question about an edit and allows
 * every edit of the session that no narrower rule asks about.
 */
export const PERMISSION_REPLY = oneOf("once", "always", "session", "reject")
export type PermissionReply = TypeOf<typeof PERMISSION_REPLY>

/**
 * Who asks: a call (`tool`), or the engine itself, about a limit that ends too late, a budget that is used up, work that crashed
 * again and again, or compactions that lead nowhere.
 */
export const QUESTION_KIND = oneOf("tool", "limit", "budget", "recovery", "compaction")
export type QuestionKind = TypeOf<typeof QUESTION_KIND>

/** The label is the answer. */
export const QUESTION_CHOICE = objectOf({ label: STRING }, { description: STRING })
export type QuestionChoice = TypeOf<typeof QUESTION_CHOICE>

/** Work whose process was lost is settled and left to people, or gone on with. */
export const RECOVERY = oneOf("settle", "continue")
export type RecoveryPolicy = TypeOf<typeof RECOVERY>

export const TODO_ITEM = objectOf({
  content: STRING,
  status: oneOf("pending", "in_progress", "completed", "cancelled"),
})
export type TodoItem = TypeOf<typeof TODO_ITEM>

/** What a call does, as its tool says: windows show it so, and the ledger takes its files. */
export const TOOL_KIND = oneOf("read", "search", "edit", "execute", "fetch", "think")
export type ToolKind = TypeOf<typeof TOOL_KIND>

export const COMPACTION_REASON = oneOf("auto", "overflow", "manual")
export type CompactionReason = TypeOf<typeof COMPACTION_REASON>

export const COMPACTION_METHOD = oneOf("model", "extract", "extension")

/** A range of events, both ends included. */
export const EVENT_RANGE = objectOf({ from: COUNT, through: COUNT })

/** Tokens of the request before a compaction and after it. */
export const TOKENS_AROUND = objectOf({ before: NUMBER, after: NUMBER })

export const RECORDED_FACT = objectOf({ kind: STRING, text: STRING, source: STRING })

/** What each context source last told the model, and what will be said when it goes away. */
export const CONTEXT_SNAPSHOT = mapOf(objectOf({ value: ANY, removal: STRING }))
export type ContextSnapshot = TypeOf<typeof CONTEXT_SNAPSHOT>

/** Of a turn that changes files. */
export const MOMENT = oneOf("before", "after")

export const UNDO_ACTION = oneOf("undo", "redo")
