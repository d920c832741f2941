/** The form of messages that an extension made, and the rule for all of them together. */
import {
  ANY,
  ANY_OBJECT,
  anyOf,
  BOOLEAN,
  listOf,
  mapOf,
  objectOf,
  oneOf,
  STRING,
  taggedBy,
  reader,
} from "@meridian/protocol"

import type { PromptMessage } from "../port/model.ts"

const NATIVE = { providerOptions: mapOf(ANY_OBJECT) }
const TEXT_PART = objectOf({ type: oneOf("text"), text: STRING }, NATIVE)
const FILE_PART = objectOf(
  {
    type: oneOf("file"),
    data: taggedBy(
      "type",
      objectOf({ type: oneOf("data"), data: STRING }),
      objectOf({ type: oneOf("text"), text: STRING }),
    ),
    mediaType: STRING,
  },
  { filename: STRING, ...NATIVE },
)
const REASONING_PART = objectOf({ type: oneOf("reasoning"), text: STRING }, NATIVE)
const CALL_PART = objectOf(
  { type: oneOf("tool-call"), toolCallId: STRING, toolName: STRING, input: ANY },
  { providerExecuted: BOOLEAN, ...NATIVE },
)
const OUTPUT = taggedBy(
  "type",
  objectOf({ type: oneOf("text"), value: STRING }),
  objectOf({ type: oneOf("json"), value: ANY }),
  objectOf({ type: oneOf("error-text"), value: STRING }),
  objectOf({ type: oneOf("error-json"), value: ANY }),
  objectOf({ type: oneOf("content"), value: listOf(anyOf(TEXT_PART, FILE_PART)) }),
)
const RESULT_PART = objectOf(
  { type: oneOf("tool-result"), toolCallId: STRING, toolName: STRING, output: OUTPUT },
  NATIVE,
)

const MESSAGE = taggedBy(
  "role",
  objectOf({ role: oneOf("system"), content: STRING }, NATIVE),
  objectOf({ role: oneOf("user"), content: listOf(taggedBy("type", TEXT_PART, FILE_PART)) }),
  objectOf({
    role: oneOf("assistant"),
    content: listOf(taggedBy("type", TEXT_PART, FILE_PART, REASONING_PART, CALL_PART, RESULT_PART)),
  }),
  objectOf({ role: oneOf("tool"), content: listOf(RESULT_PART) }),
)

/** Throws INVALID_INPUT. */
export const readMessage: (value: unknown) => PromptMessage = reader(MESSAGE, { what: "A message" })

/** No provider accepts a call without its result, or a result without its call. Undefined when all match. */
export const pairingProblem = (messages: readonly PromptMessage[]): string | undefined => {
  const open = new Set<string>()
  for (const message of messages) {
    if (typeof message.content === "string") continue
    for (const part of message.content) {
      if (part.type === "tool-call" && part.providerExecuted !== true) open.add(part.toolCallId)
      if (part.type !== "tool-result" || message.role === "assistant") continue
      if (!open.delete(part.toolCallId)) return `the result of ${part.toolCallId} has no call`
    }
  }
  const [left] = open
  return left === undefined ? undefined : `the call ${left} has no result`
}
