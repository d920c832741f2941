/**
 * When a prompt asked for a value, the last words of a turn may be that value. They are checked after the turn. If the
 * process died in between, the next process to take up the session checks them.
 */
import { messageId, type DurableEvent, type Failure, type MessageId } from "@meridian/protocol"
import { Effect } from "effect"

import type { AssistantItem } from "../domain/transcript/items.ts"
import type { Transcript } from "../domain/transcript/transcript.ts"
import {
  openWantedAnswer,
  type AnswerReading,
  type SessionHandle,
  type SettingsValue,
} from "../session/index.ts"

export const readAnswer = (
  session: SessionHandle,
  { openValueCheck }: SettingsValue,
): Effect.Effect<void, Failure> =>
  Effect.suspend(() => {
    const unread = findUnread(session.transcript())
    if (unread === undefined) return Effect.void
    const { read } = openWantedAnswer(unread.format, openValueCheck)
    return Effect.flatMap(
      Effect.promise(() => read(wordsOf(unread.item))),
      (reading) =>
        session.decide((transcript) => ({
          kind: "append",
          // Another process may have read it already.
          events: transcript.activity.answer.unread ? [answered(messageId(unread.item.id), reading)] : [],
          answer: () => undefined,
        })),
    )
  })

/** Records the given value, or the reason why it was refused. */
export const answered = (assistantMessageID: MessageId, reading: AnswerReading): DurableEvent =>
  reading.kind === "value"
    ? { type: "session.next.output.given.1", data: { assistantMessageID, value: reading.value } }
    : { type: "session.next.output.refused.1", data: { assistantMessageID, problem: reading.problem } }

const findUnread = ({ activity, conversation }: Transcript) => {
  const { format } = activity.overrides
  if (!activity.answer.unread || format === undefined) return undefined
  const item = conversation.items.findLast(({ kind }) => kind === "assistant")
  return item?.kind === "assistant" ? { item, format } : undefined
}

const wordsOf = ({ parts }: AssistantItem): string =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")
