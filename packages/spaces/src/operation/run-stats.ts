import type { Run, RunEnd } from "../domain/run.ts"
import { settleRuns } from "../store/run-liveness.ts"
import { readRuns } from "../store/run-store.ts"
import { spaceHere } from "./find-run.ts"
import { openState } from "./open-state.ts"
import { implement } from "./operation.ts"
import { dollars, modelName, seconds, sparse } from "./run-document.ts"
import { RUN_STATS } from "./run.meta.ts"

export const runStats = implement(RUN_STATS, {
  run: async (input, world) => {
    const state = openState(world)
    const space = spaceHere(input.space, state, world)
    const all = await settleRuns(space, readRuns(space, state.onDamage), state)
    const runs = input.session === undefined ? all : all.filter((run) => run.chatId === input.session)
    const count = (status: Run["status"]): number => runs.filter((run) => run.status === status).length
    const models: Record<string, number> = {}
    for (const { model, harness } of runs) {
      const name = modelName(model, harness)
      models[name] = (models[name] ?? 0) + 1
    }
    const attempts = runs.flatMap((run) => run.attempts)
    const ended: Record<string, number> = {}
    for (const { why } of attempts) if (why !== undefined) ended[why] = (ended[why] ?? 0) + 1
    return sparse({
      total_runs: runs.length,
      succeeded: count("succeeded"),
      failed: count("failed"),
      cancelled: count("cancelled"),
      running: count("running"),
      queued: count("queued"),
      waiting: count("waiting"),
      paused: count("paused"),
      attempts: attempts.length,
      attempts_ended: ended,
      total_duration_secs: rounded(sum(runs, (end) => end.durationSecs) ?? 0, 1000),
      total_cost_usd: sum(runs, (end) => end.costUsd),
      input_tokens: sum(runs, (end) => end.inputTokens),
      cached_input_tokens: sum(runs, (end) => end.cachedInputTokens),
      output_tokens: sum(runs, (end) => end.outputTokens),
      models,
    })
  },
  text: (stats) =>
    [
      `total_runs: ${stats.total_runs}`,
      `succeeded: ${stats.succeeded}`,
      `failed: ${stats.failed}`,
      `cancelled: ${stats.cancelled}`,
      `running: ${stats.running}`,
      `queued: ${stats.queued}`,
      `waiting: ${stats.waiting}`,
      `paused: ${stats.paused}`,
      `attempts: ${stats.attempts}${wordsOf(stats.attempts_ended)}`,
      `total_duration: ${seconds(stats.total_duration_secs)}`,
      ...(stats.total_cost_usd === undefined ? [] : [`total_cost: ${dollars(stats.total_cost_usd, 4)}`]),
      "models:",
      ...Object.entries(stats.models).map(([model, runs]) => `  ${model}: ${runs}`),
    ].join("\n"),
})

/** ` (3 succeeded, 1 rate_limit)` */
const wordsOf = (counts: Readonly<Record<string, number>>): string => {
  const words = Object.entries(counts).map(([why, count]) => `${count} ${why}`)
  return words.length === 0 ? "" : ` (${words.join(", ")})`
}

/** Undefined if no run reported it: unknown is not zero. */
const sum = (runs: readonly Run[], value: (end: RunEnd) => number | undefined): number | undefined => {
  const told = runs.flatMap((run) => (run.end === undefined ? [] : (value(run.end) ?? [])))
  return told.length === 0
    ? undefined
    : rounded(
        told.reduce((total, next) => total + next, 0),
        1_000_000,
      )
}

const rounded = (value: number, scale: number): number => Math.round(value * scale) / scale
