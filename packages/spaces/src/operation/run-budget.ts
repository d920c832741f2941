/**
 * What runs have spent, from their records: ended attempts, and for the one at work the amount its worker last
 * recorded (`spent.json` in the folder of the run). It adds up amounts of a run, its tree, its space and the day.
 */
import { rmSync } from "node:fs"

import { asObject, numberAt, type RunId } from "@meridian/protocol"

import { asSpaceId } from "../domain/identifier.ts"
import { decodeJson } from "../domain/json-line.ts"
import { countsOthers, tokensOf, type RunCaps, type RunSpent } from "../domain/run-caps.ts"
import type { Run, RunAttempt } from "../domain/run.ts"
import { readDocument, replaceFile } from "../store/document.ts"
import { runPlace, spacePlace, type RunPlace, type SpacePlace } from "../store/place.ts"
import { readRuns } from "../store/run-store.ts"
import { directoryNames } from "../store/space-store.ts"
import type { Used } from "./attempt-tally.ts"
import type { State } from "./state.ts"

/** For the attempt at work. */
export interface LiveSpent {
  readonly attempt: number
  readonly cost: number
  readonly tokens: number
  readonly turns: number
}

export const keepLiveSpent = ({ spent }: RunPlace, live: LiveSpent): void =>
  replaceFile(spent, `${JSON.stringify(live)}\n`)

/** The record has it now. */
export const forgetLiveSpent = ({ spent }: RunPlace): void => rmSync(spent, { force: true })

export const readLiveSpent = (space: SpacePlace, run: RunId): LiveSpent | undefined => {
  const fields = asObject(decodeJson((readDocument(runPlace(space, run).spent) ?? "").trim()))
  const [attempt, cost, tokens, turns] = ["attempt", "cost", "tokens", "turns"].map((name) =>
    numberAt(fields, name),
  )
  return attempt === undefined
    ? undefined
    : { attempt, cost: cost ?? 0, tokens: tokens ?? 0, turns: turns ?? 0 }
}

/** An amount the worker had recorded still counts, even if it cannot be read again. */
export const withLiveSpent = (
  { usage, turns }: Pick<Used, "usage" | "turns">,
  live: LiveSpent | undefined,
  attempt: number,
): Pick<Used, "usage" | "turns"> => {
  if (live === undefined || live.attempt !== attempt) return { usage, turns }
  const missing = Math.max(0, live.tokens - (usage === undefined ? 0 : tokensOf(usage)))
  const costUsd = Math.max(usage?.costUsd ?? 0, live.cost)
  const known = usage ?? { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 }
  return {
    turns: Math.max(turns, live.turns),
    usage: {
      ...known,
      inputTokens: known.inputTokens + missing,
      ...(costUsd === 0 && usage?.costUsd === undefined ? {} : { costUsd }),
    },
  }
}

/** `live`: the run's own amount, if its worker asks and knows more than its file. */
export const spentBy = (
  run: Run,
  caps: RunCaps | undefined,
  about: {
    readonly space: SpacePlace
    readonly state: State
    readonly nowMs: number
    readonly live?: LiveSpent | undefined
  },
): RunSpent => {
  const { space, state, nowMs, live } = about
  const own = amountsOf(run, { space, nowMs, live })
  const alone = { ...own, treeCost: own.cost, spaceCost: own.cost, dayCost: own.cost }
  if (caps === undefined || !countsOthers(caps)) return alone
  const costOf = (other: Run, since = Number.NEGATIVE_INFINITY): number =>
    amountsOf(other, { space, nowMs, since, live: other.id === run.id ? live : undefined }).cost
  const runs = readRuns(space, state.onDamage)
  const tree = treeOf(run.id, runs)
  const midnight = new Date(nowMs).setHours(0, 0, 0, 0)
  const today = sum(runs.map((other) => costOf(other, midnight)))
  return {
    ...own,
    treeCost: sum(runs.filter(({ id }) => tree.has(id)).map((other) => costOf(other))),
    spaceCost: sum(runs.map((other) => costOf(other))),
    dayCost: caps.dayCost === undefined ? today : today + elsewhereToday(space, state, { midnight, nowMs }),
  }
}

/** In the other spaces of the project. */
const elsewhereToday = (
  { id: own }: SpacePlace,
  state: State,
  { midnight: since, nowMs }: { readonly midnight: number; readonly nowMs: number },
): number =>
  sum(
    directoryNames(state.place.spaces).flatMap((name) => {
      const id = asSpaceId(name)
      if (id === undefined || id === own) return []
      const space = spacePlace(state.place, id)
      return readRuns(space, () => undefined).map((run) => amountsOf(run, { space, nowMs, since }).cost)
    }),
  )

type Amounts = Pick<RunSpent, "cost" | "tokens" | "turns" | "timeSecs">

const amountsOf = (
  run: Run,
  about: {
    readonly space: SpacePlace
    readonly nowMs: number
    readonly since?: number
    readonly live?: LiveSpent | undefined
  },
): Amounts => {
  const { space, nowMs, since = Number.NEGATIVE_INFINITY } = about
  const counted = run.attempts.filter(({ ended }) => ended === undefined || Date.parse(ended) >= since)
  const open = counted.find(({ ended }) => ended === undefined)
  const live = about.live ?? (open === undefined ? undefined : readLiveSpent(space, run.id))
  const now = live === undefined || live.attempt !== open?.number ? undefined : live
  return {
    cost: sum(counted.map(({ costUsd = 0 }) => costUsd)) + (now?.cost ?? 0),
    tokens: sum(counted.map(tokensIn)) + (now?.tokens ?? 0),
    turns: sum(counted.map(({ turns = 0 }) => turns)) + (now?.turns ?? 0),
    timeSecs: sum(counted.map((attempt) => secondsOf(attempt, nowMs))),
  }
}

const tokensIn = ({ inputTokens = 0, cachedInputTokens = 0, outputTokens = 0 }: RunAttempt): number =>
  tokensOf({ inputTokens, cachedInputTokens, outputTokens })

const secondsOf = ({ began, ended }: RunAttempt, nowMs: number): number => {
  const ms = (ended === undefined ? nowMs : Date.parse(ended)) - Date.parse(began)
  return Number.isNaN(ms) ? 0 : Math.max(0, ms / 1000)
}

const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0)

/** From the root run downwards. */
const treeOf = (id: RunId, runs: readonly Run[]): ReadonlySet<RunId> => {
  const parents = new Map(runs.map((run) => [run.id, run.parentRunId]))
  const rootOf = (from: RunId): RunId => {
    const seen = new Set<RunId>([from])
    for (let at = from; ;) {
      const parent = parents.get(at)
      // A parent whose row is lost, or a hand-written circle.
      if (parent === undefined || !parents.has(parent) || seen.has(parent)) return at
      seen.add(parent)
      at = parent
    }
  }
  const root = rootOf(id)
  return new Set(runs.filter((run) => rootOf(run.id) === root).map((run) => run.id))
}
