export { decodeEvent, eventFrame, fitsAsStored, storedFrame, type EventRow } from "./event-codec.ts"
export {
  Failure,
  FAILURES,
  renderFailure,
  type Facts,
  type FailureCode,
  type FailureEntry,
} from "./failure.ts"
export { sayBudgetLeft } from "./budget-left.ts"
export { expandBraces } from "./glob/expand-braces.ts"
export { globSegment, matchesSegments, type Effort, type GlobSegment } from "./glob/match-path.ts"
export {
  CHAT_ID,
  HARNESS_SESSION_ID,
  MESSAGE_ID,
  PERMISSION_REQUEST_ID,
  QUESTION_ID,
  RUN_ID,
  SESSION_ID,
  SPACE_ID,
} from "./id-shape.ts"
export {
  chatId,
  harnessSessionId,
  messageId,
  permissionRequestId,
  questionId,
  runId,
  sessionId,
  spaceId,
  type ChatId,
  type HarnessSessionId,
  type Id,
  type MessageId,
  type PermissionRequestId,
  type QuestionId,
  type RunId,
  type SessionId,
  type SpaceId,
} from "./id.ts"
export { isJsonList, isJsonObject, type Json, type JsonObject } from "./json.ts"
export { namesSomething } from "./names-something.ts"
export { editDistance, nearest } from "./nearest.ts"
export { systemCode } from "./system-code.ts"
export { allowsCommand, commandResource, concernsCommand } from "./permission/command-pattern.ts"
export {
  DRIVER_QUERY,
  lookingEnvironment,
  lookingSettings,
  lookOnlyGit,
  readDrivers,
  type HardenedCommand,
} from "./permission/look-only-git.ts"
export { readShellWords, type ShellReading } from "./permission/shell-words.ts"
export { literalPattern, matchesWildcard, textOfPattern } from "./permission/wildcard.ts"
export { withoutCredentials } from "./permission/without-credentials.ts"
export { oneLine, plainJson, plainText } from "./plain-text.ts"
export { ANSWER_FORMAT, OVERRIDES_FIELDS, type AnswerFormat, type Overrides } from "./prompt-overrides.ts"
export {
  EFFORTS,
  REQUEST_SETTINGS,
  REQUEST_SETTINGS_FIELDS,
  type ModelEffort,
  type RequestSettings,
} from "./request-settings.ts"
export { readResetTime, type ResetContext } from "./reset-time.ts"
export {
  asObject,
  countAt,
  fieldAt,
  listAt,
  numberAt,
  objectAt,
  parseList,
  parseObject,
  textAt,
  wordAt,
} from "./json-fields.ts"
export { aboutCall, changeInCall, type CallChange } from "./call-fields.ts"
export { CAP_FIELDS, CAPS, type Caps } from "./caps.ts"
export {
  COMPACTION_REASON,
  CONTEXT_SNAPSHOT,
  DELIVERY,
  LOCATION,
  PERMISSION_REPLY,
  PROMPT,
  PROMPT_FILE,
  PROMPT_PART,
  QUESTION_CHOICE,
  QUESTION_KIND,
  RECORDED_CONTENT,
  RECORDED_ERROR,
  RECORDED_FACT,
  RECORDED_USAGE,
  RECOVERY,
  TODO_ITEM,
  TOOL_KIND,
  type CompactionReason,
  type ContextSnapshot,
  type Delivery,
  type Location,
  type PermissionReply,
  type Prompt,
  type PromptFile,
  type PromptPart,
  type QuestionChoice,
  type QuestionKind,
  type RecordedContent,
  type RecordedError,
  type RecordedPrompt,
  type RecordedUsage,
  type RecoveryPolicy,
  type TodoItem,
  type ToolKind,
} from "./recorded.ts"
export {
  DURABLE_EVENTS,
  type DurableEvent,
  type DurableEventData,
  type DurableType,
  type LiveEvent,
  type LiveEventData,
  type LiveType,
  type StoredEvent,
  type SyncedMarker,
  type UnknownEvent,
} from "./session-event.ts"
export {
  ASSISTANT_PART,
  COMPACTION_RECEIPT,
  RECEIPT,
  SEQ,
  SESSION_MESSAGE,
  TIME,
  TOOL_STATE,
  type AssistantPart,
  type CompactionReceipt,
  type Receipt,
  type SessionMessage,
  type ToolState,
} from "./session-message.ts"
export {
  BUDGET_MARK,
  decodeRunOffer,
  encodeRunOffer,
  OFFER_FILE,
  RUN_WORDS,
  sayOffer,
  TAKEN_FILE,
  type RunOffer,
} from "./run-offer.ts"
export { decoder, reader, tester, type Decoded } from "./shape/decode.ts"
export { encoder } from "./shape/encode.ts"
export { jsonSchema } from "./shape/json-schema.ts"
export { problemText, type Problem } from "./shape/problem.ts"
export type { Reading } from "./shape/reading.ts"
export {
  alsoNamed,
  ANY,
  ANY_OBJECT,
  anyOf,
  BOOLEAN,
  branded,
  COUNT,
  described,
  INTEGER,
  integer,
  listOf,
  mapOf,
  named,
  NUMBER,
  number,
  objectOf,
  oneOf,
  something,
  STRING,
  taggedBy,
  text,
  type ObjectOf,
  type Shape,
  type TypeOf,
} from "./shape/shape.ts"
export { upgrade, versionedDecoder, type Upgrade, type Versions } from "./shape/version.ts"
export { snakeName } from "./shape/wire-name.ts"
export { signedMediaType } from "./signature.ts"
export {
  CONFIGURATION_QUERY,
  driverOf,
  ownGitEnvironment,
  ownGitSettings,
  readConfiguration,
  reasonIn,
  type GitConfiguration,
} from "./git-settings.ts"
export { undoText } from "./undo-text.ts"
