/**
 * What a lost drain left open. A call that may have acted is recorded as interrupted and never repeated. A call that had
 * only asked stays open: its question can still be answered, and the call can be restarted.
 */
import { messageId, type DurableEvent, type RecordedError } from "@meridian/protocol"

import { openStepOf, type Transcript } from "./transcript/transcript.ts"

/** The wording of seed 004. A call whose outcome is unknown is never repeated, only reported. */
export const INTERRUPTED_CALL: RecordedError = { code: "interrupted", message: "Tool execution interrupted" }

/** Outcomes for everything that cannot continue: first the calls in order, then the open step, then the compaction. */
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
