/** Calls, figures and questions in words, each on one line. Pure. */
import type { ModelConfig } from "@meridian/engine"
import { aboutCall, asObject, isJsonList, oneLine, type Json, type RecordedUsage } from "@meridian/protocol"

const MOST = 500

/** What a call is about: the command, the path, the pattern. */
export const describeCall = (tool: string, input: Json | undefined): string => {
  const about = aboutCall(input)
  const said = about ?? (input === undefined || isList(input) ? "" : JSON.stringify(input))
  return `${oneLine(tool.slice(0, MOST))} ${oneLine(said.slice(0, MOST))}`.trim()
}

/** A list, such as a list of tasks, does not fit on a line. */
const isList = (input: Json): boolean => Object.values(asObject(input) ?? {}).every(isJsonList)

export interface Spent {
  readonly input: number
  readonly cached: number
  readonly output: number
  readonly cost: number
}

export const NOTHING_SPENT: Spent = { input: 0, cached: 0, output: 0, cost: 0 }

export const spend = (spent: Spent, usage: RecordedUsage, cost: number): Spent => ({
  input: spent.input + usage.input + usage.cacheWrite,
  cached: spent.cached + usage.cacheRead,
  output: spent.output + usage.output + usage.reasoning,
  cost: spent.cost + cost,
})

/** `1,234 tokens in (200 cached), 56 out, $0.0123, context 12 %`. */
export const describeSpent = (
  spent: Spent,
  options: { readonly priced: boolean; readonly context?: number; readonly window?: number },
): string => {
  const { context, window } = options
  const share =
    context === undefined || window === undefined
      ? undefined
      : Math.min(100, Math.round((context / window) * 100))
  return [
    `${count(spent.input + spent.cached)} tokens in${spent.cached === 0 ? "" : ` (${count(spent.cached)} cached)`}`,
    `${count(spent.output)} out`,
    options.priced ? dollars(spent.cost) : "price unknown",
    ...(share === undefined ? [] : [`context ${share} %`]),
  ].join(", ")
}

/** `1 row`, `2,000 rows`. */
export const several = (value: number, one: string): string =>
  `${count(value)} ${one}${value === 1 ? "" : "s"}`

/** Adds the full stop that other programs' messages often lack. */
export const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)

export const count = (value: number): string => value.toLocaleString("en-US")

const dollars = (cost: number): string => `$${cost.toFixed(cost > 0 && cost < 0.01 ? 4 : 2)}`

/** A star marks where the conversation is now; a reason marks a choice that can only be looked at. */
export const listChoices = (names: readonly string[], current: string): readonly string[] =>
  names.map((name) => `${name === current ? "*" : " "} ${oneLine(name)}`)

export const isPriced = (models: readonly ModelConfig[], id: string): boolean => {
  const model = models.find((candidate) => candidate.id === id)
  return model?.price !== undefined || model?.provider === "scripted"
}
