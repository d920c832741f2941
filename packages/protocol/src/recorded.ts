/** The values inside events and messages, as the log keeps them. */
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
    /** An absolute path. */
    directory: STRING,
  },
  {
    /** Kept as given. Without it the directory is on this machine. */
    workspaceID: STRING,
  },
)
export type Location = TypeOf<typeof LOCATION>

export const PROMPT_FILE = objectOf({ mediaType: STRING, base64: STRING }, { name: STRING })
export type PromptFile = TypeOf<typeof PROMPT_FILE>

export const PROMPT = objectOf({ text: STRING }, { files: listOf(PROMPT_FILE) })
export type Prompt = TypeOf<typeof PROMPT>

const EVERY_PART = {
  /** As the user wrote it: `@src/a.ts#10-40`. */
  source: STRING,
}

const EVERY_FOUND_PART = {
  ...EVERY_PART,
  /** A path or an address; for a command or an agent, its name. */
  name: STRING,
  /** The size of the source, and the SHA-256 of the part that was taken. */
  bytes: COUNT,
  sha256: STRING,
}

/** Something that a prompt named, as it was when the prompt was admitted. */
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
      /** Line numbers, from 1. */
      from: COUNT,
      through: COUNT,
      /** The source continues. */
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
    /** The author, when it was not a person: a call that worked in the background. */
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
    /** The status of the provider's answer, when a model failed with one. */
    status: NUMBER,
    /** How long the provider asks us to wait. */
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
 * `always` saves an approval for the project: this command, this file. `session` answers a question about an edit and
 * allows every edit of the session that no narrower rule asks about.
 */
export const PERMISSION_REPLY = oneOf("once", "always", "session", "reject")
export type PermissionReply = TypeOf<typeof PERMISSION_REPLY>

/**
 * What asks: a call (`tool`), or the engine itself, about a limit that ends too late, a used-up budget, work that crashed
 * repeatedly, or compactions without effect.
 */
export const QUESTION_KIND = oneOf("tool", "limit", "budget", "recovery", "compaction")
export type QuestionKind = TypeOf<typeof QUESTION_KIND>

/** The label is the answer. */
export const QUESTION_CHOICE = objectOf({ label: STRING }, { description: STRING })
export type QuestionChoice = TypeOf<typeof QUESTION_CHOICE>

/** What becomes of work whose process was lost: settled and left to people, or resumed. */
export const RECOVERY = oneOf("settle", "continue")
export type RecoveryPolicy = TypeOf<typeof RECOVERY>

export const TODO_ITEM = objectOf({
  content: STRING,
  status: oneOf("pending", "in_progress", "completed", "cancelled"),
})
export type TodoItem = TypeOf<typeof TODO_ITEM>

/** What a call does, as its tool declares. User interfaces show it, and the ledger records its files. */
export const TOOL_KIND = oneOf("read", "search", "edit", "execute", "fetch", "think")
export type ToolKind = TypeOf<typeof TOOL_KIND>

export const COMPACTION_REASON = oneOf("auto", "overflow", "manual")
export type CompactionReason = TypeOf<typeof COMPACTION_REASON>

export const COMPACTION_METHOD = oneOf("model", "extract", "extension")

/** A range of events, including both ends. */
export const EVENT_RANGE = objectOf({ from: COUNT, through: COUNT })

/** Tokens of the request before and after a compaction. */
export const TOKENS_AROUND = objectOf({ before: NUMBER, after: NUMBER })

export const RECORDED_FACT = objectOf({ kind: STRING, text: STRING, source: STRING })

/** What each context source last told the model, and the text for its removal. */
export const CONTEXT_SNAPSHOT = mapOf(objectOf({ value: ANY, removal: STRING }))
export type ContextSnapshot = TypeOf<typeof CONTEXT_SNAPSHOT>

/** When files were kept, relative to a turn that changes them. */
export const MOMENT = oneOf("before", "after")

export const UNDO_ACTION = oneOf("undo", "redo")
