/**
 * What a lost drain left open. A call that may have acted is recorded as interrupted and never repeated; a call that had
 * only asked stays open, its question stays answerable, and it can be started again.
 */
import { messageId, type DurableEvent, type RecordedError } from "@meridian/protocol"

import { openStepOf, type Transcript } from "./transcript/transcript.ts"

/** The words of seed 004: a call whose outcome nobody can know is never repeated, only reported. */
export const INTERRUPTED_CALL: RecordedError = { code: "interrupted", message: "Tool execution interrupted" }

/** Outcomes for everything that cannot go on, in the order of the calls, then the open step, then the compaction. */
export const settleLeftovers = (transcript: Transcript): readonly DurableEvent[] => {
  const lost = transcript.calls.open.filter(({ hosted, restartable }) => hosted || !restartable)
  const step = openStepOf(transcript)
  const compaction = transcript.compactions.open
  return [
    ...lost.map(({ messageID, callID }): DurableEvent => ({
      type: "session.next.tool.failed.1",
      data: { assistantMessageID: messageId(messageID), callID, error: INTERRUPTED_CALL },
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
