/** What the model is writing right now: fragments joined until the log has the text. */
import type { LiveEvent } from "@meridian/protocol"

import { MOST_CHARACTERS, type ProseRow } from "./row.ts"

export const advanceProse = (before: ProseRow | undefined, event: LiveEvent): ProseRow | undefined => {
  if (event.type !== "text.delta" && event.type !== "reasoning.delta") return before
  const { assistantMessageID: messageID, delta } = event.data
  const kind = event.type === "text.delta" ? "text" : "reasoning"
  const body = before?.messageID === messageID && before.kind === kind ? before.body : { text: "", cut: 0 }
  const whole = body.text + delta
  // The newest part, where the reader looks.
  const text = whole.slice(-MOST_CHARACTERS)
  return {
    kind,
    key: "live",
    seq: 0,
    time: 0,
    messageID,
    body: { text, cut: body.cut + whole.length - text.length },
    partial: false,
    live: true,
  }
}
