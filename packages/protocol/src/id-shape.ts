/** Ids as shapes. Separate from id.ts, so that a command that only makes ids loads no shapes. */
import {
  CHAT,
  PRINTABLE,
  RUN,
  SPACE,
  WORD,
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
import { branded, text, type Shape } from "./shape/shape.ts"

const idShape = <Kind extends string>(pattern: RegExp, like: string): Shape<Id<Kind>> =>
  branded(text({ pattern, like }))

const ANY_WORD = "an id of at most 200 letters, digits and _.:@/+-"

export const SESSION_ID: Shape<SessionId> = idShape(WORD, ANY_WORD)
export const MESSAGE_ID: Shape<MessageId> = idShape(WORD, ANY_WORD)
export const PERMISSION_REQUEST_ID: Shape<PermissionRequestId> = idShape(WORD, ANY_WORD)
export const QUESTION_ID: Shape<QuestionId> = idShape(WORD, ANY_WORD)
export const CHAT_ID: Shape<ChatId> = idShape(CHAT, "the id of a chat, such as c1")
export const SPACE_ID: Shape<SpaceId> = idShape(SPACE, "the id of a space, such as s1")
export const RUN_ID: Shape<RunId> = idShape(RUN, "the id of a run, such as r1")
export const HARNESS_SESSION_ID: Shape<HarnessSessionId> = idShape(
  PRINTABLE,
  "the id a harness gave its session",
)
