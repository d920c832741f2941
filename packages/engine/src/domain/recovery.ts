/** What becomes of work whose process was lost: settled and left to people, or resumed within a bound. */
import { messageId, type DurableEvent } from "@meridian/protocol"

import { LIMITS } from "./limits.ts"
import { CONTINUE, pauseAsked, STOP_CHOICE } from "./question.ts"
import { parkedCalls } from "./transcript/calls.ts"
import { isWaiting } from "./transcript/parking.ts"
import type { Transcript } from "./transcript/transcript.ts"

export type Recovery =
  /** There is nothing to resume, or something else decides when. */
  | { readonly kind: "nothing" }
  | { readonly kind: "resume"; readonly activityID: string; readonly attempt: number }
  /** Resumed too often without progress: a person decides. */
  | { readonly kind: "ask"; readonly attempts: number }

export const decideRecovery = ({ activity, calls, parking }: Transcript): Recovery => {
  const { id, state, resumed } = activity
  if (id === undefined || state !== "open" || isWaiting(parking)) return { kind: "nothing" }
  // The answers resume the work, whenever they come. A call with a child needs no answer: it finds the child again.
  if (parkedCalls(calls).some(({ delegated }) => delegated !== true)) return { kind: "nothing" }
  return resumed < LIMITS.recoveryAttempts
    ? { kind: "resume", activityID: id, attempt: resumed + 1 }
    : { kind: "ask", attempts: resumed }
}

/** `requestID`: the id of the question, if one is asked. */
export const recoveryEvents = (recovery: Recovery, requestID: string): readonly DurableEvent[] => {
  switch (recovery.kind) {
    case "nothing":
      return []
    case "resume": {
      const { activityID, attempt } = recovery
      return [
        { type: "session.next.activity.resumed.1", data: { activityID: messageId(activityID), attempt } },
      ]
    }
    case "ask":
      return [
        pauseAsked(requestID, {
          kind: "recovery",
          text: `The process of this work ended ${recovery.attempts + 1} times in a row without any progress. Go on with it?`,
          choices: [{ label: CONTINUE, description: "Try again." }, STOP_CHOICE],
          other: false,
          multiple: false,
          detail: { attempts: recovery.attempts },
        }),
      ]
  }
}
