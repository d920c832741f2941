/**
 * What a lost drain left open. A call that may have acted is recorded as interrupted and never repeated; a call that had
 * only asked stays open, its question stays answerable, and it can be started again.
 */
import { messageId, type DurableEvent } from "@meridian/protocol"

import { openStepOf, type Transcript } from "../domain/transcript/transcript.ts"
import { INTERRUPTED } from "./tool-call.ts"

/** Outcomes for everything that cannot go on, in the order of the calls, then the open step. */
export const settleLeftovers = (transcript: Transcript): readonly DurableEvent[] => {
  const lost = transcript.calls.open.filter(({ hosted, restartable }) => hosted || !restartable)
  const step = openStepOf(transcript)
  const compaction = transcript.compactions.open
  return [
    ...lost.map(({ messageID, callID }): DurableEvent => ({
      type: "session.next.tool.failed.1",
      data: { assistantMessageID: messageId(messageID), callID, error: INTERRUPTED },
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
