/**
 * OpenCode calls `experimental.chat.system.transform` for every request of a session, without saying which kind it is: a
 * step of the conversation, its title, or a summary. Helper requests are recognised by the start of their system prompts
 * (the built-in ones, and those from the user's configuration). If the host does not name those, a request right after the
 * start of a compaction with a different prompt is a summary. Everything else is a main request, because an unknown prompt
 * should rather get the rules than not.
 */
import type { Host } from "./host.ts"
import type { Session } from "./session.ts"
import { withinTime, type World } from "./world.ts"

export interface RequestKinds {
  /** Call it early: the host needs a moment to name its helpers. */
  readonly prepare: () => void
  readonly isMain: (system: readonly unknown[], session: Session) => Promise<boolean>
}

/** Slightly longer than for other questions to the host, because a title is requested at the same moment. */
const PATIENCE_MS = 100

export const openRequestKinds = (host: Host, world: World): RequestKinds => {
  let known: readonly string[] | undefined
  let asked: Promise<void> | undefined
  let isPatient = true

  const ask = (): Promise<void> => {
    asked ??= learn()
    return asked
  }

  const learn = async (): Promise<void> => {
    known = await host.helperPrompts()
    // No answer came. Ask again at the next request.
    if (known === undefined) asked = undefined
  }

  return {
    prepare: () => {
      void ask()
    },
    isMain: async (system, session) => {
      if (known === undefined) {
        const patience = isPatient ? PATIENCE_MS : 0
        isPatient = false
        await withinTime(world, patience, ask())
      }
      const start = startOf(system[0])
      // Only if the host does not name its helpers: the agent may be switched at the same moment.
      const isOther = session.mainPrompt !== undefined && session.mainPrompt !== start
      const isSummary = known === undefined && session.isSummarising && isOther
      session.isSummarising = false
      if (isSummary || isHelper(system, known ?? [])) return false
      session.mainPrompt = start
      return true
    },
  }
}

const isHelper = (system: readonly unknown[], helperPrompts: readonly string[]): boolean => {
  const helpers = helperPrompts.map(startOf).filter((start) => start !== "")
  // Some providers add a line before the agent's prompt.
  return system.slice(0, 3).some((text) => {
    const start = startOf(text)
    return BUILT_IN.test(start) || helpers.some((helper) => start.startsWith(helper))
  })
}

const BUILT_IN =
  /^(?:you are a title generator\b|you are (?:a|an anchored) context summarization|summarize what was done in this conversation)/i

const startOf = (prompt: unknown): string =>
  typeof prompt === "string" ? prompt.trimStart().slice(0, 200).trimEnd() : ""
