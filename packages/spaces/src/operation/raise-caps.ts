/**
 * Answers the question of a run whose budget is used up: stores other caps under its seal, for the worker that
 * resumes it.
 */
import { Failure } from "@meridian/protocol"

import { breachOf, mergeCaps, sayBreach, type RunSpent } from "../domain/run-caps.ts"
import type { Run } from "../domain/run.ts"
import type { SpacePlace } from "../store/place.ts"
import { readRun } from "../store/run-store.ts"
import { capsAsked, configuredCaps, requireAboveSpent, type CapInput } from "./budget-fields.ts"
import { readConfig } from "./config.ts"
import { parentRun } from "./parent.ts"
import { spentBy } from "./run-budget.ts"
import type { State } from "./state.ts"
import { readStoredPlan, rewritePlan } from "./stored-plan.ts"
import type { World } from "./world.ts"

interface About {
  readonly space: SpacePlace
  readonly state: State
  readonly world: World
}

/** Throws CAP_BELOW_SPENT, CAP_NOT_YOURS, and BUDGET_SPENT if a cap still stops the run. */
export const raiseCaps = async (run: Run, input: CapInput, about: About): Promise<void> => {
  const { space, state, world } = about
  const asked = capsAsked(input)
  const isAsked = mergeCaps(undefined, asked) !== undefined
  if (!isAsked && run.waitingFor !== "budget") return
  if (isAsked) requireOwner(run, about)
  const kept = readStoredPlan(space, run.id, state, world)
  if (kept.tag !== "plan") throw new Failure("RUN_NOT_RESUMABLE", { run: run.id, why: kept.why })
  const { plan } = kept
  const { treeCost, spaceCost, dayCost } = configuredCaps((await readConfig(world)).config)
  // Caps shared with other runs are as the configuration says now.
  const caps = mergeCaps({ ...plan.caps, treeCost, spaceCost, dayCost }, asked)
  const spent = spentBy(run, caps, { space, state, nowMs: world.clock.now() })
  requireAboveSpent(asked, spent)
  const breach = run.waitingFor === "budget" ? breachOf(caps, spent) : undefined
  if (breach !== undefined)
    throw new Failure("BUDGET_SPENT", { run: run.id, what: sayBreach(breach), flag: FLAGS[breach.measure] })
  rewritePlan(space, run.id, { ...plan, caps }, { state, world })
}

/** The flag that raises each, as the end of a sentence. */
const FLAGS = {
  cost: "--max-cost",
  tokens: "--max-tokens",
  turns: "--max-turns",
  timeSecs: "--max-time",
  treeCost: "budget.tree_cost",
  spaceCost: "budget.space_cost",
  dayCost: "budget.day_cost",
} as const satisfies Record<keyof RunSpent, string>

/** An agent answers for the runs it started, never for its own run or for those above it. */
const requireOwner = (run: Run, { space, state, world }: About): void => {
  const asker = parentRun(world)
  if (asker === undefined) return
  const seen = new Set<string>()
  for (let above = run.parentRunId; above !== undefined && !seen.has(above);) {
    if (above === asker) return
    seen.add(above)
    above = readRun(space, above, state.onDamage)?.parentRunId
  }
  throw new Failure("CAP_NOT_YOURS", { run: run.id, asker })
}
