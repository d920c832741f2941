/**
 * The last step before a call acts on a permission or an answer. It proves that the call is still ours to run, however long
 * the answer took. A call that could have been restarted first records that it no longer can.
 */
import { messageId, type Failure } from "@meridian/protocol"
import type { Effect } from "effect"

import { findCall, type CallName } from "../domain/transcript/calls.ts"
import type { SessionHandle } from "../session/index.ts"

export const proveOurs = ({
  session,
  messageID,
  callID,
}: CallName & { readonly session: SessionHandle }): Effect.Effect<void, Failure> => {
  const resumed = {
    type: "session.next.tool.resumed.1",
    data: { assistantMessageID: messageId(messageID), callID },
  } as const
  return session.decideToAct(({ calls }) => ({
    kind: "append",
    events: findCall(calls, { messageID, callID })?.restartable === true ? [resumed] : [],
    answer: () => undefined,
  }))
}
