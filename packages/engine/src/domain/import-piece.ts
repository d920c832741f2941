/**
 * One piece of a foreign conversation, as its reader reports it. Times and counts may be any number. The type is written
 * out, because it is part of the engine's declarations, which must not depend on others.
 */
import {
  ANY,
  BOOLEAN,
  listOf,
  objectOf,
  oneOf,
  PROMPT,
  RECORDED_CONTENT,
  something,
  STRING,
  taggedBy,
  TODO_ITEM,
  type Json,
  type Prompt,
  type RecordedContent,
  type RecordedUsage,
  type Shape,
  type TodoItem,
} from "@meridian/protocol"

interface Dated {
  /** Milliseconds since 1970. Default: the time of the previous piece. */
  readonly time?: number
}

/** Part of a model's answer. Consecutive pieces with the same `turn` are one turn. */
export interface OfTurn extends Dated {
  readonly turn: string
  /** The source's name for the message. A later summary may list it among those it keeps. */
  readonly key?: string
  readonly model?: string
  readonly agent?: string
}

export type ImportPiece =
  | (Dated & { readonly kind: "prompt"; readonly key?: string; readonly prompt: Prompt })
  | (OfTurn & { readonly kind: "text" | "reasoning"; readonly text: string })
  | (OfTurn & {
      readonly kind: "call"
      readonly callID: string
      readonly tool: string
      readonly input?: Json
      /** Present when the model's arguments were not JSON. */
      readonly raw?: string
    })
  | (Dated & {
      readonly kind: "result"
      readonly callID: string
      readonly content: readonly RecordedContent[]
      readonly failed?: boolean
    })
  /** The complete todo list from here on. */
  | (Dated & { readonly kind: "todo"; readonly items: readonly TodoItem[] })
  /** The usage of the turn. A later piece replaces an earlier one. */
  | { readonly kind: "usage"; readonly turn: string; readonly usage: RecordedUsage; readonly cost?: number }
  /** The turn ended in an error. */
  | (OfTurn & { readonly kind: "failed"; readonly message: string })
  /** This summary replaces everything before it, except the messages it keeps. */
  | (Dated & {
      readonly kind: "summary"
      readonly text: string
      readonly keep?: readonly string[]
      readonly tokens?: { readonly before: number; readonly after: number }
      readonly manual?: boolean
      /** The usage of the model that wrote it. */
      readonly usage?: RecordedUsage
      readonly cost?: number
    })

const ANY_NUMBER = something<number>("a number", (value) => typeof value === "number")
const USAGE = objectOf({
  input: ANY_NUMBER,
  output: ANY_NUMBER,
  reasoning: ANY_NUMBER,
  cacheRead: ANY_NUMBER,
  cacheWrite: ANY_NUMBER,
})
const DATED = { time: ANY_NUMBER }
const OF_TURN = { ...DATED, key: STRING, model: STRING, agent: STRING }

export const IMPORT_PIECE: Shape<ImportPiece> = taggedBy(
  "kind",
  objectOf({ kind: oneOf("prompt"), prompt: PROMPT }, { ...DATED, key: STRING }),
  objectOf({ kind: oneOf("text"), turn: STRING, text: STRING }, OF_TURN),
  objectOf({ kind: oneOf("reasoning"), turn: STRING, text: STRING }, OF_TURN),
  objectOf(
    { kind: oneOf("call"), turn: STRING, callID: STRING, tool: STRING },
    { ...OF_TURN, input: ANY, raw: STRING },
  ),
  objectOf(
    { kind: oneOf("result"), callID: STRING, content: listOf(RECORDED_CONTENT) },
    { ...DATED, failed: BOOLEAN },
  ),
  objectOf({ kind: oneOf("todo"), items: listOf(TODO_ITEM) }, DATED),
  objectOf({ kind: oneOf("usage"), turn: STRING, usage: USAGE }, { cost: ANY_NUMBER }),
  objectOf({ kind: oneOf("failed"), turn: STRING, message: STRING }, OF_TURN),
  objectOf(
    { kind: oneOf("summary"), text: STRING },
    {
      ...DATED,
      keep: listOf(STRING),
      tokens: objectOf({ before: ANY_NUMBER, after: ANY_NUMBER }),
      manual: BOOLEAN,
      usage: USAGE,
      cost: ANY_NUMBER,
    },
  ),
)
