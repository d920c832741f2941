/** What may follow `--` for our own harness. Nobody stands behind us who might know more: an unknown word is a slip. */
import { Failure } from "@meridian/protocol"

import type { PlanWarning } from "../port/harness.ts"
import { fitParams, valueOf } from "./params.ts"

export interface DirectParams {
  readonly maxTurns?: number
  /** Flags of other harnesses are left out, as every harness does. */
  readonly warnings: readonly PlanWarning[]
}

/** Throws USAGE for what neither we nor another harness know, and for a number that is none. */
export const readDirectParams = (params: readonly string[]): DirectParams => {
  const { groups, warnings } = fitParams({ id: "direct", name: "Direct" }, params)
  const unknown = groups.find(({ flag }) => flag !== MAX_TURNS)
  if (unknown !== undefined)
    throw new Failure("USAGE", {
      problem: `Direct takes no ${JSON.stringify(unknown.words.join(" ").slice(0, 200))} behind --.`,
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
