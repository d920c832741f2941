/**
 * OpenCode asks `experimental.chat.system.transform` for every request of a session, and does not say which one it is: a
 * step of the conversation, its title, or the summary of a compaction. The helpers are recognised by how their own system
 * prompts begin; everything else is a main request, so that an unknown prompt gets the rules rather than not.
 */
export type RequestKind = "main" | "title" | "summary"

const TITLE = /^you are a title generator\b/i
const SUMMARY =
  /^you are (?:a context summarization agent|an anchored context summarization|a helpful ai assistant tasked with summarizing)\b/i

export const requestKind = (system: readonly unknown[]): RequestKind => {
  const first = system.find((text) => typeof text === "string" && text.trim() !== "")
  const start = typeof first === "string" ? first.trimStart().slice(0, 200) : ""
  if (TITLE.test(start)) return "title"
  return SUMMARY.test(start) ? "summary" : "main"
}
