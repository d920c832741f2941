/** The result of an undo or redo, as a sentence for people. */
import type { DurableEventData } from "./session-event.ts"

export const undoText = ({
  action,
  conversation,
  files,
  changed,
  left,
}: DurableEventData["session.next.undo.ended.1"]): string => {
  const what = [
    ...(conversation ? ["the conversation"] : []),
    ...(files ? [changed === 1 ? "1 file" : `${changed} files`] : []),
  ].join(" and ")
  const stays = left.length === 0 ? "" : ` ${left.length} stay as they are, because somebody changed them.`
  return `${action === "undo" ? "Taken back" : "Brought back"}: ${what}.${stays}`
}
