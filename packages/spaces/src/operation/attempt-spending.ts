/**
 * What the attempt that is at work has spent so far, as its lines tell, and whether a cap of its run is reached with it. Kept in
 * the folder of the run for whoever adds up others, and priced by our catalogue where the harness says no price.
 */
import { breachOf, tokensOf, type RunBreach, type RunCaps } from "../domain/run-caps.ts"
import type { HarnessEvent, Usage } from "../port/harness.ts"
import { loadLimits } from "../store/model-limits.ts"
import { keepLiveSpent, spentBy, type LiveSpent } from "./run-budget.ts"
import type { Leg } from "./run-context.ts"
import { addUsage } from "./run-outcome.ts"

export interface AttemptSpending {
  readonly saw: (event: HarnessEvent) => void
  /** With what others have spent by now; undefined while every cap holds. */
  readonly breach: () => RunBreach | undefined
  readonly turns: () => number
  /** As far as the lines told; what a verdict says is better. */
  readonly usage: () => Usage | undefined
  readonly priced: (usage: Usage | undefined) => Usage | undefined
}

export const openAttemptSpending = async (leg: Leg, attempt: number): Promise<AttemptSpending> => {
  const { plan, space, state, world, files, read } = leg
  const held = capsHeldHere(plan.caps, leg.harness.id)
  const price = await priceOf(leg)
  let told: Usage | undefined
  let soFar: Usage | undefined
  let turns = 0

  const priced = (usage: Usage | undefined): Usage | undefined => {
    if (usage === undefined || usage.costUsd !== undefined || price === undefined) return usage
    const { inputTokens, cachedInputTokens, outputTokens } = usage
    const dollars =
      inputTokens * price.input +
      cachedInputTokens * (price.cacheRead ?? price.input) +
      outputTokens * price.output
    return { ...usage, costUsd: dollars / 1_000_000 }
  }

  const usage = (): Usage | undefined => addUsage(priced(told), priced(soFar))

  const live = (): LiveSpent => {
    const used = usage()
    return { attempt, cost: used?.costUsd ?? 0, tokens: used === undefined ? 0 : tokensOf(used), turns }
  }

  return {
    saw: (event) => {
      if (event.type === "usage") {
        told = addUsage(told, event.usage)
        soFar = undefined
      }
      if (event.type === "spending") soFar = addUsage(soFar, event.usage)
      // A harness that tells each request has told of the turn already.
      turns += turnsIn(event, leg.harness.id)
      if (event.type === "usage" || event.type === "spending") keepLiveSpent(files, live())
    },
    breach: () => {
      if (held === undefined) return undefined
      const at = { space, state, nowMs: world.clock.now(), live: live() }
      return breachOf(held, spentBy(read(), held, at))
    },
    turns: () => turns,
    usage,
    priced,
  }
}

/** Our own engine keeps to the caps of its run by itself, and asks at a boundary; what others spend it cannot know. */
const capsHeldHere = (caps: RunCaps | undefined, harness: string): RunCaps | undefined => {
  if (caps === undefined || harness !== "direct") return caps
  const { treeCost, spaceCost, dayCost } = caps
  return { treeCost, spaceCost, dayCost }
}

const turnsIn = ({ type, ...event }: HarnessEvent, harness: string): number => {
  if (type === "retry") return 1
  if (type === "compaction") return "phase" in event && event.phase === "ended" ? 1 : 0
  return type === (harness === "claude" ? "spending" : "turn.ended") ? 1 : 0
}

/** What the catalogue says of its model, for harnesses that tell no cost. Unknown is unknown, and never free. */
const priceOf = async ({ plan, harness, world }: Leg) => {
  const provider = PROVIDERS[harness.id]
  if (plan.caps === undefined || provider === undefined) return undefined
  const name = plan.launch.model ?? plan.model
  const { models } = await loadLimits(world.env)
  return models.get(name.includes("/") ? name : `${provider}/${name}`)?.price
}

const PROVIDERS: Readonly<Record<string, string>> = { claude: "anthropic", codex: "openai" }
