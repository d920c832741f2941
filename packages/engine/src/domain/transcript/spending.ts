/**
 * What the session has used up, folded from its log: by turns, retries and compactions, across crashes and restarts. What a
 * fork or an import copied was spent elsewhere and does not count.
 *
 * Time means working time: while a turn or its calls are open and no question is. Time between a crash and its discovery
 * does not count.
 */
import type { Caps, RecordedUsage } from "@meridian/protocol"

import { NO_CAPS, NOTHING_SPENT, type Measure, type Spent, type Told } from "../caps.ts"
import type { LoggedEvent } from "../logged-event.ts"

export interface Spending {
  readonly spent: Spent
  /** The caps it was created with. */
  readonly given: Caps | undefined
  /** The caps that a person has set since. */
  readonly set: Caps
  readonly told: Told
  /** Models without a known price whose warning was already given. */
  readonly unpriced: readonly string[]
  /** Earlier events are copies. Infinite until an import has its first prompt. */
  readonly countsFrom: number
  readonly work: Work
}

interface Work {
  readonly isTurn: boolean
  readonly calls: number
  readonly questions: number
  /** The time up to which work is counted. */
  readonly at: number
}

const NO_WORK: Work = { isTurn: false, calls: 0, questions: 0, at: 0 }

export const NO_SPENDING: Spending = {
  spent: NOTHING_SPENT,
  given: undefined,
  set: NO_CAPS,
  told: {},
  unpriced: [],
  countsFrom: 0,
  work: NO_WORK,
}

export const foldSpending = (spending: Spending, events: readonly LoggedEvent[]): Spending =>
  events.reduce(foldOne, spending)

const foldOne = (before: Spending, event: LoggedEvent): Spending => {
  const spending = withTime(before, event)
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest uses nothing up
  switch (event.type) {
    case "session.next.created.1": {
      const { caps, parent, imported } = event.data
      const countsFrom = imported === undefined ? (parent?.time ?? 0) : Number.POSITIVE_INFINITY
      return { ...spending, given: caps, countsFrom }
    }
    case "session.next.prompt.admitted.1":
      return spending.countsFrom === Number.POSITIVE_INFINITY
        ? { ...spending, countsFrom: event.time }
        : spending
    case "session.next.step.started.1":
      return counts(spending, event) ? spend(spending, { turns: 1 }) : spending
    case "session.next.retried.1":
      return counts(spending, event) ? spend(spending, { turns: 1 }) : spending
    case "session.next.step.ended.2": {
      const { usage, cost } = event.data
      return counts(spending, event) ? spend(spending, { cost, tokens: tokensOf(usage) }) : spending
    }
    case "session.next.compaction.ended.2": {
      const { usage, cost } = event.data
      return counts(spending, event) ? spend(spending, { cost, tokens: tokensOf(usage), turns: 1 }) : spending
    }
    case "session.next.titled.1": {
      const { usage, cost } = event.data
      return counts(spending, event) ? spend(spending, { cost, tokens: tokensOf(usage), turns: 1 }) : spending
    }
    case "session.next.task.ended.1": {
      const { usage, cost, turns } = event.data
      return counts(spending, event) ? spend(spending, { cost, tokens: tokensOf(usage), turns }) : spending
    }
    case "session.next.budget.changed.1":
      return { ...spending, set: { ...spending.set, ...event.data.caps } }
    case "session.next.warned.1": {
      const { told = [], unpriced } = event.data
      if (told.length === 0 && unpriced === undefined) return spending
      return {
        ...spending,
        told: {
          ...spending.told,
          ...Object.fromEntries(told.map(({ measure, cap, percent }) => [measure, { cap, percent }])),
        },
        unpriced: unpriced === undefined ? spending.unpriced : [...spending.unpriced, unpriced],
      }
    }
    default:
      return spending
  }
}

const counts = ({ countsFrom }: Spending, { time }: LoggedEvent): boolean => time >= countsFrom

const spend = (spending: Spending, more: Partial<Record<Measure, number>>): Spending => {
  const { cost, tokens, turns, timeMs } = spending.spent
  return {
    ...spending,
    spent: {
      cost: cost + (more.cost ?? 0),
      tokens: tokens + (more.tokens ?? 0),
      turns: turns + (more.turns ?? 0),
      timeMs: timeMs + (more.timeMs ?? 0),
    },
  }
}

/** Everything read and written, cached or not. */
const tokensOf = ({ input, output, reasoning, cacheRead, cacheWrite }: RecordedUsage): number =>
  input + output + reasoning + cacheRead + cacheWrite

const withTime = (spending: Spending, event: LoggedEvent): Spending => {
  const { work } = spending
  const isBusy = work.isTurn || work.calls > 0
  const next = workAfter(work, event)
  if (!isBusy && next === work) return spending
  const timed = next.at === event.time ? next : { ...next, at: event.time }
  if (!isBusy || work.questions > 0 || isDiscovery(event) || !counts(spending, event))
    return { ...spending, work: timed }
  return { ...spend(spending, { timeMs: Math.max(0, event.time - work.at) }), work: timed }
}

const workAfter = (work: Work, event: LoggedEvent): Work => {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest begins and ends no work
  switch (event.type) {
    case "session.next.step.started.1":
      return { ...work, isTurn: true }
    case "session.next.step.ended.2":
    case "session.next.step.failed.2":
      return { ...work, isTurn: false }
    case "session.next.tool.called.1":
      return { ...work, calls: work.calls + 1 }
    case "session.next.tool.success.1":
    case "session.next.tool.failed.1": {
      const calls = Math.max(0, work.calls - 1)
      return { ...work, calls, questions: Math.min(work.questions, calls) }
    }
    case "session.next.permission.asked.1":
      return { ...work, questions: work.questions + 1 }
    case "session.next.permission.replied.1":
      return { ...work, questions: Math.max(0, work.questions - 1) }
    case "session.next.question.asked.1":
      return event.data.callID === undefined ? work : { ...work, questions: work.questions + 1 }
    case "session.next.question.replied.1":
      return event.data.callID === undefined ? work : { ...work, questions: Math.max(0, work.questions - 1) }
    default:
      return work
  }
}

/** The event reports something that ended earlier, when a process was lost. */
const isDiscovery = (event: LoggedEvent): boolean =>
  (event.type === "session.next.tool.failed.1" && event.data.error.code === "interrupted") ||
  (event.type === "session.next.step.failed.2" && event.data.error.code === "INTERRUPTED")
