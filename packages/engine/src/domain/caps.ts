/**
 * What a session may use up, and what follows: a question when a cap is reached, warnings for the agent on the way there.
 * Decided before a turn, never during one.
 */
import { Failure, sayBudgetLeft, type Caps, type JsonObject } from "@meridian/protocol"

import type { Pause } from "./question.ts"

/** What is measured. */
export type Measure = "cost" | "tokens" | "turns" | "timeMs"
const MEASURES = ["cost", "tokens", "turns", "timeMs"] as const satisfies readonly Measure[]

export type Spent = Readonly<Record<Measure, number>>
export const NOTHING_SPENT: Spent = { cost: 0, tokens: 0, turns: 0, timeMs: 0 }

const CAP_OF = {
  cost: "maxCost",
  tokens: "maxTokens",
  turns: "maxTurns",
  timeMs: "maxTimeMs",
} as const satisfies Record<Measure, keyof Caps>

export const NO_CAPS: Caps = {}

/** The tightest of the caps in `together`. A cap that a person has set since (`set`) overrides them. */
export const capsInForce = (together: readonly (Caps | undefined)[], set: Caps): Caps => {
  if (set === NO_CAPS && together.every((caps) => caps === undefined)) return NO_CAPS
  const tightest = MEASURES.flatMap((measure) => {
    const name = CAP_OF[measure]
    const caps = together.flatMap((each) => each?.[name] ?? [])
    return caps.length === 0 ? [] : [[name, Math.min(...caps)] as const]
  })
  return { ...Object.fromEntries(tightest), ...set }
}

export interface Breach {
  readonly measure: Measure
  readonly spent: number
  readonly cap: number
}

/** The first reached cap. */
export const breachOf = (spent: Spent, caps: Caps): Breach | undefined => {
  if (caps === NO_CAPS) return undefined
  for (const measure of MEASURES) {
    const cap = caps[CAP_OF[measure]]
    if (cap !== undefined && spent[measure] >= cap) return { measure, spent: spent[measure], cap }
  }
  return undefined
}

/** Throws CAP_BELOW_SPENT: a cap that is already reached would stop the work at once. */
export const requireAboveSpent = (caps: Caps, spent: Spent): void => {
  const breach = breachOf(spent, caps)
  if (breach !== undefined) throw belowSpent(breach)
}

const belowSpent = ({ measure, spent, cap }: Breach): Failure =>
  new Failure("CAP_BELOW_SPENT", { cap: say(measure, cap), spent: say(measure, spent) })

/** The highest mark of each cap that the agent has been told about. */
export type Told = Readonly<Partial<Record<Measure, { readonly cap: number; readonly percent: number }>>>

const TOLD_AT = [95, 80, 50] as const

export interface CapNotice {
  readonly measure: Measure
  readonly percent: number
  readonly spent: number
  readonly cap: number
}

/** The notices that are due now. Each mark is reported once per cap; of several marks passed together, only the highest. */
export const capNotices = (spent: Spent, caps: Caps, told: Told): readonly CapNotice[] => {
  if (caps === NO_CAPS) return []
  return MEASURES.flatMap((measure) => {
    const cap = caps[CAP_OF[measure]]
    if (cap === undefined) return []
    const percent = TOLD_AT.find((mark) => spent[measure] * 100 >= cap * mark)
    const before = told[measure]
    const known = before?.cap === cap ? before.percent : 0
    return percent === undefined || percent <= known ? [] : [{ measure, percent, spent: spent[measure], cap }]
  })
}

/** The text for the agent. */
export const sayNotices = (notices: readonly CapNotice[]): string =>
  sayBudgetLeft(
    notices.map(({ measure, spent, cap }) => ({
      left: say(measure, Math.max(0, cap - spent)),
      cap: say(measure, cap),
      usedPercent: (spent * 100) / cap,
    })),
  )

export const RAISE = "raise"

/** The durable question that a reached cap raises. */
export const budgetPause = ({ measure, spent, cap }: Breach): Pause => ({
  kind: "budget",
  text: `The budget of this work is used up: ${say(measure, spent)} of ${say(measure, cap)}. Raise it?`,
  choices: [
    { label: RAISE, description: `Allow as much again: up to ${say(measure, spent + cap)}.` },
    { label: "stop", description: "End the work here." },
  ],
  other: true,
  multiple: false,
  detail: { measure, spent, cap },
})

/**
 * The caps that an answer sets: "raise", an amount in the unit that ran out ("2.5", "$2.50", "2h"), or amounts by name
 * ("cost=5 tokens=200000 turns=80 time=2h"). Undefined: stop. Throws INVALID_INPUT and CAP_BELOW_SPENT.
 */
export const readRaise = (detail: JsonObject | undefined, answer: string): Caps | undefined => {
  const breach = breachIn(detail)
  if (breach === undefined) throw unreadable(answer)
  const { measure, spent, cap } = breach
  if (answer === "stop") return undefined
  if (answer === RAISE) return { [CAP_OF[measure]]: spent + cap }
  const caps = Object.fromEntries(
    answer
      .trim()
      .split(/[\s,;]+/)
      .map((word) => {
        const [, name, amount] = /^(?:-*(?:max-)?(cost|tokens|turns|time)=)?(.+)$/i.exec(word) ?? []
        const meant = name === undefined ? measure : NAMED[name.toLowerCase()]
        const value = meant === undefined ? undefined : readAmount(meant, amount ?? "")
        if (meant === undefined || value === undefined) throw unreadable(answer)
        return [CAP_OF[meant], value] as const
      }),
  )
  const raised = caps[CAP_OF[measure]]
  if (raised === undefined) throw unreadable(answer)
  if (raised <= spent) throw belowSpent({ measure, spent, cap: raised })
  return caps
}

const NAMED: Readonly<Record<string, Measure>> = {
  cost: "cost",
  tokens: "tokens",
  turns: "turns",
  time: "timeMs",
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

const readAmount = (measure: Measure, text: string): number | undefined => {
  const [, digits = "", unit = ""] = /^\$?(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text) ?? []
  const value = Number(digits)
  if (digits === "" || !(value > 0) || !Number.isFinite(value)) return undefined
  // A time without a unit is in seconds, as everywhere in user input.
  if (measure === "timeMs") return value * (UNIT_MS[unit === "" ? "s" : unit] ?? 1)
  if (unit !== "") return undefined
  return measure === "cost" || Number.isSafeInteger(value) ? value : undefined
}

const breachIn = (detail: JsonObject = {}): Breach | undefined => {
  const { measure: word, spent, cap } = detail
  const measure = MEASURES.find((one) => one === word)
  return measure === undefined || typeof spent !== "number" || typeof cap !== "number"
    ? undefined
    : { measure, spent, cap }
}

const unreadable = (answer: string): Failure =>
  new Failure("INVALID_INPUT", {
    what: `${JSON.stringify(answer.slice(0, 100))} is not a budget: answer raise, stop, an amount, or amounts such as cost=5 tokens=200000 turns=80 time=2h`,
  })

/** An amount with its unit, for people and agents. */
export const say = (measure: Measure, amount: number): string => {
  switch (measure) {
    case "cost":
      return `${amount < 1 ? Number(amount.toPrecision(2)) : amount.toFixed(2)} dollars`
    case "tokens":
      return `${Math.round(amount)} tokens`
    case "turns":
      return `${amount} turns`
    case "timeMs":
      return sayTime(amount)
  }
}

const sayTime = (ms: number): string => {
  if (ms < 60_000) return `${Number((ms / 1_000).toFixed(1))} seconds`
  if (ms < 3_600_000) return `${Number((ms / 60_000).toFixed(1))} minutes`
  return `${Number((ms / 3_600_000).toFixed(1))} hours`
}
