/**
 * What a lost drain left open. A call that may have acted is recorded as interrupted and never repeated; a call that had
 * only asked stays open, its question stays answerable, and it can be started again.
 */
import { messageId, type DurableEvent } from "@meridian/protocol"

import type { Transcript } from "../domain/transcript.ts"
import { INTERRUPTED } from "./tool-call.ts"

/** Outcomes for everything that cannot go on, in the order of the calls, then the open step. */
export const settleLeftovers = (transcript: Transcript): readonly DurableEvent[] => {
  const lost = transcript.openCalls().filter(({ part }) => part.hosted || !part.restartable)
  const step = transcript.openStep()
  const compaction = transcript.openCompaction()
  return [
    ...lost.map(({ assistant, part }): DurableEvent => ({
      type: "session.next.tool.failed.1",
      data: { assistantMessageID: messageId(assistant.id), callID: part.callID, error: INTERRUPTED },
    })),
    ...(step === undefined
      ? []
      : [
          {
            type: "session.next.step.failed.2",
            data: {
              assistantMessageID: messageId(step.id),
              error: {
                code: "INTERRUPTED",
                message: "The process that ran this turn ended before the turn did.",
              },
            },
          } as const,
        ]),
    ...(compaction === undefined
      ? []
      : [
          {
            type: "session.next.compaction.failed.1",
            data: {
              compactionID: compaction,
              error: {
                code: "INTERRUPTED",
                message: "The process that compacted ended before the compaction did.",
              },
            },
          } as const,
        ]),
  ]
}

/**
 * Work a lost process had taken on and not begun, or not gone on with: a promoted prompt nobody answered, results nobody
 * has seen. Nothing of it is open, so it must be said.
 */
export const hasUnfinishedWork = (transcript: Transcript): boolean => {
  const last = transcript.items.findLast((item) => item.kind === "user" || item.kind === "assistant")
  if (last === undefined || last.kind === "user") return last !== undefined
  return (
    last.kind === "assistant" &&
    last.error === undefined &&
    last.parts.some((part) => part.type === "tool" && !part.hosted)
  )
}

/** Calls that wait for an answer, or have one that nobody was there to hear. */
export const parkedCalls = (transcript: Transcript) =>
  transcript.openCalls().filter(({ part }) => part.restartable && !part.hosted)

/** Parked calls whose questions are all answered: a wake may go on with them. */
export const hasAnsweredCall = (transcript: Transcript): boolean =>
  parkedCalls(transcript).some(({ assistant, part }) =>
    [...transcript.requests.values()].some(
      (request) =>
        request.messageID === assistant.id && request.callID === part.callID && request.reply !== undefined,
    ),
  )
