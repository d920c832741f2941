/**
 * The words that may follow `--` for our own harness. No other program reads them after us, so an unknown word is a
 * mistake.
 */
import { Failure } from "@meridian/protocol"

import type { PlanWarning } from "../port/harness.ts"
import { fitParams, valueOf } from "./params.ts"

export interface DirectParams {
  readonly maxTurns?: number
  /** Names flags of other harnesses that were left out, as every harness does. */
  readonly warnings: readonly PlanWarning[]
}

/** Throws USAGE for words that no harness knows, and for a bad number. */
export const readDirectParams = (params: readonly string[]): DirectParams => {
  const { groups, warnings } = fitParams({ id: "direct", name: "Direct" }, params)
  const unknown = groups.find(({ flag }) => flag !== MAX_TURNS)
  if (unknown !== undefined)
    throw new Failure("USAGE", {
      problem: `Direct takes no ${JSON.stringify(unknown.words.join(" ").slice(0, 200))} after --.`,
      next: `leave it out; its only flag is ${MAX_TURNS} N.`,
    })
  if (groups.length === 0) return { warnings }
  const text = valueOf(groups, MAX_TURNS) ?? ""
  const maxTurns = Number(text)
  if (text.trim() === "" || !Number.isSafeInteger(maxTurns) || maxTurns < 1)
    throw new Failure("USAGE", {
      problem: `${MAX_TURNS} must be a whole number of at least 1, got ${JSON.stringify(text.slice(0, 200))}.`,
      next: "give a number, or leave it out.",
    })
  return { maxTurns, warnings }
}

const MAX_TURNS = "--max-turns"
