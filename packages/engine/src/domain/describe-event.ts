import type { StoredEvent, UnknownEvent } from "@meridian/protocol"

import { plainName, quoted, unlabelled } from "./inert-text.ts"

/** An event as search and range reading show it. We add the speaker, because a text could claim any. */
export const describeEvent = (event: StoredEvent | UnknownEvent): string => {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest has no text to search for
  switch (event.type) {
    case "session.next.prompt.admitted.1":
    case "session.next.prompted.1":
      return `[User] ${unlabelled(event.data.prompt.text)}`
    case "session.next.synthetic.1":
      return `[Program] ${unlabelled(event.data.text)}`
    case "session.next.text.ended.1":
      return `[Assistant] ${unlabelled(event.data.text)}`
    case "session.next.reasoning.ended.1":
      return `[Reasoning] ${unlabelled(event.data.text)}`
    case "session.next.tool.called.1":
      return `[Call] ${plainName(event.data.tool)} ${unlabelled(JSON.stringify(event.data.input ?? event.data.raw ?? {}))}`
    case "session.next.tool.success.1":
      return `[Result]\n${quoted(event.data.content.map((part) => (part.type === "text" ? part.text : part.mediaType)).join("\n"))}`
    case "session.next.tool.failed.1":
      return `[Error]\n${quoted(event.data.error.message)}`
    case "session.next.context.updated.1":
      return `[System] ${unlabelled(event.data.text)}`
    case "session.next.compaction.ended.2":
      return `[Checkpoint] ${unlabelled(event.data.summary)}`
    default:
      return ""
  }
}
