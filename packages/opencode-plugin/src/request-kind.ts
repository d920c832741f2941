/**
 * OpenCode asks `experimental.chat.system.transform` for every request of a session, and does not say which one it is: a
 * step of the conversation, its title, or a summary. The helpers are recognised by how their own system prompts begin (the
 * built-in ones, and those a user gave them in the configuration); where the host does not name those, a summary also by
 * coming right after a compaction began with another prompt than the conversation has. Everything else is a main request, so that an unknown prompt gets
 * the rules rather than not.
 */
import type { Host } from "./host.ts"
import type { Session } from "./session.ts"
import { withinTime, type World } from "./world.ts"

export interface RequestKinds {
  /** To be called early: the host takes a moment to name its helpers. */
  readonly prepare: () => void
  readonly isMain: (system: readonly unknown[], session: Session) => Promise<boolean>
}

/** The first time a little longer than other questions to the host: a title is asked for at the same moment. */
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
    // Nothing came: the question is asked again at the next request.
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
      // Only where the host does not name its helpers: an agent may be changed in the same moment.
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
  // Some providers put a line of their own before the prompt of the agent.
  return system.slice(0, 3).some((text) => {
    const start = startOf(text)
    return BUILT_IN.test(start) || helpers.some((helper) => start.startsWith(helper))
  })
}

const BUILT_IN =
  /^(?:you are a title generator\b|you are (?:a|an anchored) context summarization|summarize what was done in this conversation)/i

const startOf = (prompt: unknown): string =>
  typeof prompt === "string" ? prompt.trimStart().slice(0, 200).trimEnd() : ""
