import type { DurableEvent, Failure } from "@meridian/protocol"
import type { Effect } from "effect"

import type { FoldedSessions } from "../session/index.ts"

/** Asks the process that works on a session to stop. The request is in the log, so it reaches every process. */
export const requestInterrupt = (
  sessions: FoldedSessions["Service"],
  session: string,
): Effect.Effect<void, Failure> =>
  sessions.write({ session, durability: "acknowledged" }, () => ({
    kind: "append",
    events: [INTERRUPT],
    answer: () => undefined,
  }))

const INTERRUPT: DurableEvent = { type: "session.next.interrupt.requested.1", data: {} }
