/**
 * OpenCode asks `experimental.chat.system.transform` for every request of a session, and does not say which one it is: a
 * step of the conversation, its title, or a summary. The helpers are recognised by how their own system prompts begin (the
 * built-in ones, and those a user gave them in the configuration); everything else is a main request, so that an unknown
 * prompt gets the rules rather than not.
 */
export const isMainRequest = (system: readonly unknown[], helperPrompts: readonly string[]): boolean => {
  const first = system.find((text) => typeof text === "string" && text.trim() !== "")
  const start = typeof first === "string" ? startOf(first) : ""
  return (
    !BUILT_IN.test(start) &&
    !helperPrompts.some((prompt) => startOf(prompt) !== "" && start.startsWith(startOf(prompt)))
  )
}

const BUILT_IN =
  /^(?:you are a title generator\b|you are (?:a|an anchored) context summarization|summarize what was done in this conversation)/i

const startOf = (prompt: string): string => prompt.trim().slice(0, 200)
