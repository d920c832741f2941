/** Caps as commands and tools take them, and as the configuration holds them. */
import { Failure } from "@meridian/protocol"

import type { Config } from "../domain/config-option.ts"
import { parseSeconds } from "../domain/duration.ts"
import { mergeCaps, sayAmount, type RunCaps, type RunSpent } from "../domain/run-caps.ts"
import type { Field, InputOf } from "./field.ts"

export const CAP_FIELDS = {
  maxCost: {
    type: "number",
    description: "Pause and ask when it has cost this many dollars (default: budget.run_cost).",
    minimum: 0,
    value: "DOLLARS",
  },
  maxTokens: {
    type: "integer",
    description: "Pause and ask after this many tokens, including cached ones (default: budget.run_tokens).",
    minimum: 1,
    value: "N",
  },
  maxTurns: {
    type: "integer",
    description: "Pause and ask after this many turns of the model (default: budget.run_turns).",
    minimum: 1,
    value: "N",
  },
  maxTime: {
    type: "seconds",
    description: "Pause and ask after this much time at work (default: budget.run_time).",
    minimum: 0.001,
    value: "TIME",
  },
} as const satisfies Record<string, Field>

/** These replace the caps it began with. */
export const RAISED_FIELDS = {
  maxCost: { ...CAP_FIELDS.maxCost, description: "Its total cost cap, in dollars." },
  maxTokens: { ...CAP_FIELDS.maxTokens, description: "Its total token cap." },
  maxTurns: { ...CAP_FIELDS.maxTurns, description: "Its total turn cap." },
  maxTime: { ...CAP_FIELDS.maxTime, description: "Its total cap on time at work." },
} as const satisfies Record<string, Field>

export type CapInput = InputOf<typeof CAP_FIELDS>

export const capsAsked = ({ maxCost: cost, maxTokens, maxTurns, maxTime }: CapInput): RunCaps => {
  if (cost !== undefined && !(cost > 0))
    throw new Failure("USAGE", { problem: "--max-cost is above 0.", next: "give an amount in dollars." })
  return { cost, tokens: maxTokens, turns: maxTurns, timeSecs: maxTime }
}

export const configuredCaps = (config: Config): RunCaps => ({
  cost: config["budget.run_cost"],
  tokens: config["budget.run_tokens"],
  turns: config["budget.run_turns"],
  timeSecs: seconds(config["budget.run_time"]),
  treeCost: config["budget.tree_cost"],
  spaceCost: config["budget.space_cost"],
  dayCost: config["budget.day_cost"],
})

/** A time of 0 means no cap. */
const seconds = (text: string | undefined): number | undefined => {
  const secs = text === undefined ? undefined : parseSeconds(text)
  return secs === 0 ? undefined : secs
}

/** A person's flags take precedence over the configuration. An agent may only lower the caps. */
export const capsFor = (
  input: CapInput,
  { config, isAgents }: { readonly config: Config; readonly isAgents: boolean },
): RunCaps | undefined => {
  const configured = configuredCaps(config)
  const asked = capsAsked(input)
  const lower = (one: "cost" | "tokens" | "turns" | "timeSecs"): number | undefined =>
    isAgents ? least(asked[one], configured[one]) : asked[one]
  return mergeCaps(configured, {
    cost: lower("cost"),
    tokens: lower("tokens"),
    turns: lower("turns"),
    timeSecs: lower("timeSecs"),
  })
}

const least = (left: number | undefined, right: number | undefined): number | undefined =>
  left === undefined || right === undefined ? (left ?? right) : Math.min(left, right)

/** Parses "5", "$5", or "cost=5 tokens=200000 turns=80 time=2h". Undefined for anything else. */
export const capsSaid = (text: string): Partial<CapInput> | undefined => {
  const said: Record<string, number> = {}
  for (const word of text.trim().split(/[\s,;]+/)) {
    const [, name = "cost", amount = ""] =
      /^(?:-*(?:max-)?(cost|tokens|turns|time)=)?\$?(.+)$/.exec(word) ?? []
    const value = name === "time" ? (parseSeconds(amount) ?? Number.NaN) : Number(amount)
    const isWhole = name === "cost" || name === "time" || Number.isSafeInteger(value)
    if (!(value > 0) || !Number.isFinite(value) || !isWhole) return undefined
    said[`max${name.slice(0, 1).toUpperCase()}${name.slice(1)}`] = value
  }
  return said
}

/** Throws CAP_BELOW_SPENT. */
export const requireAboveSpent = (asked: RunCaps, spent: RunSpent): void => {
  for (const measure of ["cost", "tokens", "turns", "timeSecs"] as const) {
    const cap = asked[measure]
    if (cap !== undefined && cap <= spent[measure])
      throw new Failure("CAP_BELOW_SPENT", {
        cap: sayAmount(measure, cap),
        spent: sayAmount(measure, spent[measure]),
      })
  }
}
