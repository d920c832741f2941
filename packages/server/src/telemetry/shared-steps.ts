/**
 * Steps of this process that are in no log, kept until the events after them are read. Bounded: unread ones are forgotten.
 */
import type { SharedStep } from "@meridian/engine"

export interface SharedSteps {
  readonly add: (step: SharedStep) => void
  /** Returns the steps up to the one that brought this event, oldest first, each only once. */
  readonly take: (session: string, seq: number) => readonly SharedStep[]
}

const MOST_SESSIONS = 1_000
const MOST_OF_ONE = 500

export const openSharedSteps = (): SharedSteps => {
  const sessions = new Map<string, SharedStep[]>()
  return {
    add: (step) => {
      const steps = sessions.get(step.session) ?? []
      if (steps.length >= MOST_OF_ONE) steps.shift()
      steps.push(step)
      sessions.delete(step.session)
      sessions.set(step.session, steps)
      const [oldest] = sessions.keys()
      if (sessions.size > MOST_SESSIONS && oldest !== undefined) sessions.delete(oldest)
    },
    take: (session, seq) => {
      const steps = sessions.get(session)
      if (steps === undefined) return []
      const due = steps.filter((step) => step.seq < seq)
      const rest = steps.filter((step) => step.seq >= seq)
      if (rest.length === 0) sessions.delete(session)
      else sessions.set(session, rest)
      return due
    },
  }
}
