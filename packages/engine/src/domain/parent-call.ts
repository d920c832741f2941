/** Which call of which session began a child: what lists say of it. */
import type { DurableEventData } from "@meridian/protocol"

type Born = NonNullable<DurableEventData["session.next.created.1"]["task"]>

export const parentCall = (
  task: Born | undefined,
): Pick<Born, "sessionID" | "messageID" | "callID" | "depth"> | undefined => {
  if (task === undefined) return undefined
  const { sessionID, messageID, callID, depth } = task
  return { sessionID, messageID, callID, depth }
}
