/**
 * The laws of budgets and of the guard against repetition, over a whole log. They count by themselves, and share no code with
 * the engine. Time is left to its question: when work began and ended is the engine's to say.
 */
import type { SessionEvent } from "@meridian/engine"
import type { Caps, JsonObject } from "@meridian/protocol"

import type { Act } from "./engine-laws.ts"

interface Used {
  turns: number
  tokens: number
  cost: number
}

const CAPS = { turns: "maxTurns", tokens: "maxTokens", cost: "maxCost" } as const

/** `given`: of the engine, and of the session when it was made. The log is its own from the first event on. */
export const brokenCaps = (
  events: readonly SessionEvent[],
  given: readonly (Caps | undefined)[],
): readonly string[] => {
  const broken: string[] = []
  const used: Used = { turns: 0, tokens: 0, cost: 0 }
  const set = new Map<string, number>()
  let asked: string | undefined
  let step: string | undefined
  const open = new Set<string>()
  const told = new Set<string>()

  const capOf = (measure: keyof Used): number =>
    set.get(CAPS[measure]) ??
    Math.min(...given.map((caps) => caps?.[CAPS[measure]] ?? Number.POSITIVE_INFINITY))
  const reached = (): readonly string[] =>
    (["turns", "tokens", "cost"] as const)
      .filter((measure) => used[measure] >= capOf(measure))
      .map((measure) => `${used[measure]} ${measure} of ${capOf(measure)}`)
  const mayAsk = (what: string): void => {
    for (const cap of reached()) broken.push(`${what} beyond a cap: ${cap}`)
    if (asked !== undefined) broken.push(`${what} while ${asked} waits for an answer`)
  }
  const add = (
    usage: Extract<SessionEvent, { type: "session.next.step.ended.2" }>["data"]["usage"],
    cost: number,
    turns = 0,
  ): void => {
    used.turns += turns
    used.tokens += usage.input + usage.output + usage.reasoning + usage.cacheRead + usage.cacheWrite
    used.cost += cost
  }

  for (const event of events) {
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest uses nothing up
    switch (event.type) {
      case "session.next.step.started.1":
        mayAsk(`turn ${event.data.assistantMessageID} begins`)
        used.turns += 1
        step = event.data.assistantMessageID
        break
      case "session.next.retried.1":
        mayAsk(`turn ${event.data.assistantMessageID} is tried again`)
        used.turns += 1
        break
      case "session.next.step.ended.2":
        add(event.data.usage, event.data.cost)
        step = undefined
        break
      case "session.next.step.failed.2":
        step = undefined
        break
      case "session.next.compaction.started.1":
        mayAsk("a compaction begins")
        break
      case "session.next.compaction.ended.2":
      case "session.next.titled.1":
        add(event.data.usage, event.data.cost, 1)
        break
      case "session.next.tool.called.1":
        open.add(event.data.callID)
        break
      case "session.next.tool.success.1":
      case "session.next.tool.failed.1":
        open.delete(event.data.callID)
        break
      case "session.next.budget.changed.1":
        for (const [name, cap] of Object.entries(event.data.caps)) set.set(name, cap)
        break
      case "session.next.question.asked.1":
        if (event.data.kind !== "budget") break
        if (!isTimeUp(event.data.detail) && reached().length === 0)
          broken.push(`${event.data.requestID} asks although every cap holds`)
        if (step !== undefined || open.size > 0)
          broken.push(`${event.data.requestID} asks in the middle of work`)
        asked = event.data.requestID
        break
      case "session.next.question.replied.1":
        if (asked === event.data.requestID) asked = undefined
        break
      case "session.next.interrupt.requested.1":
        // The work that it was about is over; the next turn asks again.
        asked = undefined
        break
      case "session.next.warned.1":
        for (const { measure, cap, percent } of event.data.told ?? []) {
          const mark = `${percent} % of ${cap} ${measure}`
          if (told.has(mark)) broken.push(`${mark} is told twice`)
          told.add(mark)
        }
        break
      default:
        break
    }
  }
  return broken
}

const isTimeUp = (detail: JsonObject | undefined): boolean =>
  detail?.["measure"] === "timeMs" && Number(detail["spent"]) >= Number(detail["cap"])

const MOST_EQUAL = 5

/** A call that was made with the same result five times in a row is not carried out a sixth time, until a person says something. */
export const repeatedTooOften = (
  events: readonly SessionEvent[],
  acts: readonly Act[],
): readonly string[] => {
  const done = new Set(acts.map(({ messageID, callID }) => `${messageID}/${callID}`))
  const broken: string[] = []
  let last = ""
  let count = 0
  for (const event of events) {
    if (event.type === "session.next.prompt.promoted.1") count = 0
    if (event.type !== "session.next.tool.called.1") continue
    const { tool, input, assistantMessageID, callID } = event.data
    const same = JSON.stringify([tool, input])
    const isCarriedOut =
      done.has(`${assistantMessageID}/${callID}`) && succeeded(events, assistantMessageID, callID)
    count = same === last ? count + (isCarriedOut ? 1 : 0) : isCarriedOut ? 1 : 0
    last = same
    if (count > MOST_EQUAL) broken.push(`${callID} is carried out the ${count}th time in a row`)
  }
  return broken
}

const succeeded = (events: readonly SessionEvent[], messageID: string, callID: string): boolean =>
  events.some(
    (event) =>
      event.type === "session.next.tool.success.1" &&
      event.data.callID === callID &&
      event.data.assistantMessageID === messageID,
  )
