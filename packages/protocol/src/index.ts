export {
  Failure,
  FAILURES,
  renderFailure,
  type Facts,
  type FailureCode,
  type FailureEntry,
} from "./failure.ts"
export {
  chatId,
  harnessSessionId,
  messageId,
  permissionRequestId,
  runId,
  sessionId,
  spaceId,
  type ChatId,
  type HarnessSessionId,
  type Id,
  type MessageId,
  type PermissionRequestId,
  type RunId,
  type SessionId,
  type SpaceId,
} from "./id.ts"
export type { Json, JsonObject } from "./json.ts"
