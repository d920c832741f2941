/**
 * What the attempt at work has spent so far, by its lines and by its harness's records, and whether that reaches a
 * cap of its run. The amount is written into the folder of the run, for other runs that add up a shared cap.
 */
import { harnessSessionId } from "@meridian/protocol"

import { breachOf, tokensOf, type RunBreach, type RunCaps, type RunSpent } from "../domain/run-caps.ts"
import type { RunAttempt } from "../domain/run.ts"
import type { Environment, Harness, HarnessEvent, KeptRequest, KeptRequests } from "../port/harness.ts"
import { loadLimits } from "../store/model-limits.ts"
import {
  isTallied,
  openTally,
  tally,
  tellerOf,
  usedBy,
  type PriceOf,
  type Tally,
  type Used,
} from "./attempt-tally.ts"
import { launchEnvironment } from "./launcher.ts"
import { keepLiveSpent, spentBy, type LiveSpent } from "./run-budget.ts"
import type { Leg } from "./run-context.ts"

export interface AttemptSpending {
  readonly saw: (event: HarnessEvent) => void
  /** Reads the harness's records. Never rejects. */
  readonly look: () => Promise<void>
  /** Includes what others have spent by now. Undefined while every cap holds. */
  readonly breach: () => RunBreach | undefined
  /** Spent by the whole run, and by the runs it shares a cap with. */
  readonly sum: () => RunSpent
  readonly used: () => Used
}

export const openAttemptSpending = async (
  leg: Leg,
  { attempt, session }: { readonly attempt: number; readonly session: string | undefined },
): Promise<AttemptSpending> => {
  const { plan, space, state, world, files, harness, read } = leg
  const held = capsHeldHere(plan.caps, harness.id)
  const about = {
    teller: tellerOf(harness.id),
    model: plan.launch.model ?? plan.model,
    priceOf: await pricesOf(harness.id, world.env),
  }
  const sinceMs = world.clock.now()
  const environment = launchEnvironment(world)
  const keptOf = (id: string): KeptRequests | undefined =>
    about.teller.tellsAtOnce ? undefined : keptIn(harness, { session: id, environment, sinceMs })
  let told: Tally = openTally(sinceMs)
  let kept: readonly KeptRequest[] = []
  let readKept = session === undefined ? undefined : keptOf(session)
  let written: string | undefined
  let looking: Promise<void> | undefined

  const used = (): Used => usedBy(told, kept, about)

  const live = (): LiveSpent => {
    const { usage, turns } = used()
    return { attempt, cost: usage?.costUsd ?? 0, tokens: usage === undefined ? 0 : tokensOf(usage), turns }
  }

  const sum = (): RunSpent => spentBy(read(), held, { space, state, nowMs: world.clock.now(), live: live() })

  const keep = (): void => {
    const now = live()
    const text = JSON.stringify(now)
    if (text === written || now.turns + now.tokens === 0) return
    keepLiveSpent(files, now)
    written = text
  }

  const lookNow = async (): Promise<void> => {
    if (readKept === undefined) return
    kept = await readKept()
    try {
      keep()
    } catch {
      // A full disk: the next look records it, and until then we know it here.
    }
  }

  return {
    saw: (event) => {
      if (event.type === "session") readKept = keptOf(event.harnessSessionId)
      if (!isTallied(event)) return
      told = tally(told, event, { atMs: world.clock.now(), teller: about.teller })
      keep()
    },
    look: () => {
      looking ??= lookNow().finally(() => {
        looking = undefined
      })
      return looking
    },
    breach: () => (held === undefined ? undefined : breachOf(held, sum())),
    sum,
    used,
  }
}

/** Our own engine enforces the caps of its run itself, and asks at a boundary. It cannot know what others spend. */
const capsHeldHere = (caps: RunCaps | undefined, harness: string): RunCaps | undefined => {
  if (caps === undefined || harness !== "direct") return caps
  const { treeCost, spaceCost, dayCost } = caps
  return { treeCost, spaceCost, dayCost }
}

/** What a lost worker had spent, from its recorded lines and its harness's records. */
export const spentByLost = async (
  { harnessSessionId: session, began, model = "" }: RunAttempt,
  told: Tally,
  about: { readonly harness: Harness; readonly environment: Environment },
): Promise<Used> => {
  const { harness, environment } = about
  const kept =
    session === undefined ? undefined : keptIn(harness, { session, environment, sinceMs: Date.parse(began) })
  return usedBy(told, (await kept?.()) ?? [], {
    teller: tellerOf(harness.id),
    model,
    priceOf: await pricesOf(harness.id, environment),
  })
}

const keptIn = (
  harness: Harness,
  {
    session,
    environment,
    sinceMs,
  }: { readonly session: string; readonly environment: Environment; readonly sinceMs: number },
): KeptRequests | undefined => harness.keptRequests?.({ id: harnessSessionId(session), environment, sinceMs })

/** Prices of the catalogue, for harnesses that report no cost. An unknown price is never free. */
const pricesOf = async (harness: string, env: Environment): Promise<PriceOf> => {
  const provider = PROVIDERS[harness]
  if (provider === undefined) return () => undefined
  const { models } = await loadLimits(env)
  return (name) => models.get(name.includes("/") ? name : `${provider}/${name}`)?.price
}

const PROVIDERS: Readonly<Record<string, string>> = { claude: "anthropic", codex: "openai" }
