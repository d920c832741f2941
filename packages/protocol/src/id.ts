declare const kind: unique symbol

/** A string whose type says what it names. A `SessionId` and a `ChatId` never mix, though both are text. */
export type Id<Kind extends string> = string & { readonly [kind]: Kind }

/** The engine's durable conversation. */
export type SessionId = Id<"SessionId">
/** One visible message. An input keeps its id when it is promoted, so both have this type. */
export type MessageId = Id<"MessageId">
export type PermissionRequestId = Id<"PermissionRequestId">
export type QuestionId = Id<"QuestionId">
/** Meridian's counter of conversations in a space: `c1`. */
export type ChatId = Id<"ChatId">
export type SpaceId = Id<"SpaceId">
export type RunId = Id<"RunId">
/** The conversation id that the harness issued. */
export type HarnessSessionId = Id<"HarnessSessionId">

/** Callers may supply ids, so any printable word is allowed. Ours start with a prefix. */
export const WORD = /^[\p{L}\p{N}_.:@/+-]{1,200}$/u
export const CHAT = /^c[0-9]{1,9}$/
export const SPACE = /^s[0-9]{1,9}$/
export const RUN = /^r[0-9]{1,9}$/
export const PRINTABLE = /^[^\p{C}\s]{1,200}$/u

const LONGEST_ID = 200

/** Makes an id from text. Throws for invalid text. */
const id =
  <Kind extends string>(pattern: RegExp) =>
  (from: string): Id<Kind> => {
    if (!pattern.test(from))
      throw new TypeError(`not a valid id: ${JSON.stringify(from.slice(0, LONGEST_ID))}`)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the only place an id is minted from text
    return from as Id<Kind>
  }

export const sessionId = id<"SessionId">(WORD)
export const messageId = id<"MessageId">(WORD)
export const permissionRequestId = id<"PermissionRequestId">(WORD)
export const questionId = id<"QuestionId">(WORD)
export const chatId = id<"ChatId">(CHAT)
export const spaceId = id<"SpaceId">(SPACE)
export const runId = id<"RunId">(RUN)
export const harnessSessionId = id<"HarnessSessionId">(PRINTABLE)
