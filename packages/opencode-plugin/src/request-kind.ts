/**
 * OpenCode asks `experimental.chat.system.transform` for every request of a session, and does not say which one it is: a
 * step of the conversation, its title, or a summary. The helpers are recognised by how their own system prompts begin (the
 * built-in ones, and those a user gave them in the configuration); everything else is a main request, so that an unknown
 * prompt gets the rules rather than not.
 */
export const isMainRequest = (system: readonly unknown[], helperPrompts: readonly string[]): boolean => {
  const helpers = helperPrompts.map(startOf).filter((start) => start !== "")
  // Some providers put a line of their own before the prompt of the agent.
  return !system.slice(0, 3).some((text) => {
    const start = typeof text === "string" ? startOf(text) : ""
    return BUILT_IN.test(start) || helpers.some((helper) => start.startsWith(helper))
  })
}

const BUILT_IN =
  /^(?:you are a title generator\b|you are (?:a|an anchored) context summarization|summarize what was done in this conversation)/i

const startOf = (prompt: string): string => prompt.trim().slice(0, 200)
