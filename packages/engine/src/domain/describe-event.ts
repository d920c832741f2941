import type { StoredEvent, UnknownEvent } from "@meridian/protocol"

/** What a search should find, and how a range is read. */
export const describeEvent = (event: StoredEvent | UnknownEvent): string => {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest has no text to search for
  switch (event.type) {
    case "session.next.prompt.admitted.1":
    case "session.next.prompted.1":
      return `[User] ${event.data.prompt.text}`
    case "session.next.text.ended.1":
      return `[Assistant] ${event.data.text}`
    case "session.next.reasoning.ended.1":
      return `[Reasoning] ${event.data.text}`
    case "session.next.tool.called.1":
      return `[Call] ${event.data.tool} ${JSON.stringify(event.data.input ?? event.data.raw ?? {})}`
    case "session.next.tool.success.1":
      return `[Result] ${event.data.content.map((part) => (part.type === "text" ? part.text : part.mediaType)).join("\n")}`
    case "session.next.tool.failed.1":
      return `[Error] ${event.data.error.message}`
    case "session.next.context.updated.1":
      return `[System] ${event.data.text}`
    case "session.next.compaction.ended.2":
      return `[Checkpoint] ${event.data.summary}`
    default:
      return ""
  }
}
