/** The call that began a child session, as lists show it. */
import type { DurableEventData } from "@meridian/protocol"

type Born = NonNullable<DurableEventData["session.next.created.1"]["task"]>

export const parentCall = (
  task: Born | undefined,
): Pick<Born, "sessionID" | "messageID" | "callID" | "depth"> | undefined => {
  if (task === undefined) return undefined
  const { sessionID, messageID, callID, depth } = task
  return { sessionID, messageID, callID, depth }
}
