/**
 * What a run may use up, alone and together with others, and when that is reached. Pure: the amounts come from the
 * records of runs (`operation/run-budget.ts`). A cap is checked before an attempt and, during one, with every line of
 * usage.
 */
import { sayBudgetLeft, type BUDGET_MARK, type TypeOf } from "@meridian/protocol"

/** Dollars, tokens, turns, seconds at work. */
export interface RunCaps {
  readonly cost?: number | undefined
  readonly tokens?: number | undefined
  readonly turns?: number | undefined
  readonly timeSecs?: number | undefined
  /** For the whole family: the root run and every run below it. */
  readonly treeCost?: number | undefined
  /** For all runs of the space. */
  readonly spaceCost?: number | undefined
  /** For all runs of the project since midnight. */
  readonly dayCost?: number | undefined
}

export interface RunSpent {
  readonly cost: number
  readonly tokens: number
  readonly turns: number
  readonly timeSecs: number
  readonly treeCost: number
  readonly spaceCost: number
  readonly dayCost: number
}

export const NOTHING_SPENT: RunSpent = {
  cost: 0,
  tokens: 0,
  turns: 0,
  timeSecs: 0,
  treeCost: 0,
  spaceCost: 0,
  dayCost: 0,
}

type Measure = keyof RunSpent

const MEASURES = [
  "cost",
  "tokens",
  "turns",
  "timeSecs",
  "treeCost",
  "spaceCost",
  "dayCost",
] as const satisfies readonly Measure[]

export interface RunBreach {
  readonly measure: Measure
  readonly cap: number
  readonly spent: number
}

/** The first cap that is reached. */
export const breachOf = (caps: RunCaps | undefined, spent: RunSpent): RunBreach | undefined => {
  if (caps === undefined) return undefined
  for (const measure of MEASURES) {
    const cap = caps[measure]
    if (cap !== undefined && spent[measure] >= cap) return { measure, cap, spent: spent[measure] }
  }
  return undefined
}

/** Other runs count against these caps too, so it is not enough to know what this run has spent. */
export const countsOthers = ({ treeCost, spaceCost, dayCost }: RunCaps): boolean =>
  treeCost !== undefined || spaceCost !== undefined || dayCost !== undefined

/** Caps that a harness can enforce itself. */
export interface Rest {
  readonly cost?: number
  readonly tokens?: number
  readonly turns?: number
  readonly timeMs?: number
}

/** The least that is left of any cap on the same measure. Undefined if nothing bounds it. */
export const restOf = (caps: RunCaps | undefined, spent: RunSpent): Rest | undefined => {
  if (caps === undefined) return undefined
  const left = (measure: Measure): number | undefined =>
    caps[measure] === undefined ? undefined : Math.max(0, caps[measure] - spent[measure])
  const costs = (["cost", "treeCost", "spaceCost", "dayCost"] as const).flatMap((one) => left(one) ?? [])
  const [tokens, turns, secs] = [left("tokens"), left("turns"), left("timeSecs")]
  return {
    ...(costs.length === 0 ? {} : { cost: Math.min(...costs) }),
    ...(tokens === undefined ? {} : { tokens }),
    ...(turns === undefined ? {} : { turns }),
    ...(secs === undefined ? {} : { timeMs: secs * 1000 }),
  }
}

/** Tokens read from a cache count too: they were read. */
export const tokensOf = ({
  inputTokens,
  cachedInputTokens,
  outputTokens,
}: {
  readonly inputTokens: number
  readonly cachedInputTokens: number
  readonly outputTokens: number
}): number => inputTokens + cachedInputTokens + outputTokens

export const mergeCaps = (before: RunCaps | undefined, after: RunCaps): RunCaps | undefined => {
  const merged = { ...before, ...defined(after) }
  return Object.keys(defined(merged)).length === 0 ? undefined : merged
}

const defined = (caps: RunCaps): RunCaps =>
  Object.fromEntries(Object.entries(caps).filter(([, value]) => value !== undefined))

const TOLD_AT = [95, 80, 50] as const

type ToldMark = TypeOf<typeof BUDGET_MARK>

export interface BudgetNotice {
  readonly text: string
  /** The marks the agent knows after this notice. */
  readonly told: readonly ToldMark[]
}

/** For a harness's agent: reports each mark of each cap once, and only the highest of those passed together. */
export const budgetNotice = (
  caps: RunCaps,
  spent: RunSpent,
  told: readonly ToldMark[],
): BudgetNotice | undefined => {
  const passed = MEASURES.flatMap((measure) => {
    const cap = caps[measure]
    const percent = cap === undefined ? undefined : TOLD_AT.find((mark) => spent[measure] * 100 >= cap * mark)
    if (cap === undefined || percent === undefined) return []
    const known = told.find((mark) => mark.measure === measure && mark.cap === cap)?.percent ?? 0
    return percent <= known ? [] : [{ measure, cap, percent }]
  })
  if (passed.length === 0) return undefined
  const left = passed.map(({ measure, cap }) => ({
    left: sayAmount(measure, Math.max(0, cap - spent[measure])),
    cap: sayAmount(measure, cap),
    usedPercent: (spent[measure] * 100) / cap,
  }))
  return {
    text: `[meridian] ${sayBudgetLeft(left)}`,
    told: [...told.filter(({ measure }) => !passed.some((mark) => mark.measure === measure)), ...passed],
  }
}

/** A sentence for people. */
export const sayBreach = ({ measure, cap, spent }: RunBreach): string =>
  `${OF[measure]} is used up: ${sayAmount(measure, spent)} of ${sayAmount(measure, cap)}.`

const OF = {
  cost: "The budget of this run",
  tokens: "The budget of this run",
  turns: "The budget of this run",
  timeSecs: "The budget of this run",
  treeCost: "The budget of this run and those it belongs to (budget.tree_cost)",
  spaceCost: "The budget of this space (budget.space_cost)",
  dayCost: "The budget of this day (budget.day_cost)",
} as const satisfies Record<Measure, string>

export const sayAmount = (measure: Measure, amount: number): string => {
  switch (measure) {
    case "tokens":
      return `${Math.round(amount)} tokens`
    case "turns":
      return `${amount} turns`
    case "timeSecs":
      return amount < 60
        ? `${Number(amount.toFixed(1))} seconds`
        : `${Number((amount / 60).toFixed(1))} minutes`
    case "cost":
    case "treeCost":
    case "spaceCost":
    case "dayCost":
      return `${amount < 1 ? Number(amount.toPrecision(2)) : amount.toFixed(2)} dollars`
  }
}
