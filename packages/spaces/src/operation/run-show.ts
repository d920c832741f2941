import { oneLine } from "@meridian/protocol"

import { isEnded } from "../domain/run.ts"
import { sandboxWords } from "../domain/sandbox.ts"
import { taskLine } from "../domain/task.ts"
import { runPlace } from "../store/place.ts"
import { findRun, spaceHere } from "./find-run.ts"
import { loadHarness } from "./load-harness.ts"
import { openState } from "./open-state.ts"
import { implement } from "./operation.ts"
import {
  checkDocuments,
  dollars,
  filesTouched,
  modelName,
  runDocument,
  seconds,
  sparse,
} from "./run-document.ts"
import { activityDocument, elapsedSecs, standing, watchRun, type RunStanding } from "./run-look.ts"
import type { RunDocument } from "./run-schema.ts"
import { TOLD_WHEN, wordsDocument } from "./run-words.ts"
import { RUN_FILES, RUN_SHOW } from "./run.meta.ts"

export const runShow = implement(RUN_SHOW, {
  run: async (input, world) => {
    const state = openState(world)
    const space = spaceHere(input.space, state, world)
    const run = await findRun(space, input.runId, state)
    const view = watchRun(space, run.id)(run)
    const files = runPlace(space, run.id)
    const words = isEnded(run) ? undefined : wordsDocument(files, run, await loadHarness(run.harness, world))
    return sparse({
      words,
      ...runDocument(space, run, { report: input.report, files: input.includeFiles, summary: true }),
      // The recorded words of the task. Text mode shows their first line.
      task: run.task ?? (view.task === "" ? undefined : view.task),
      activity: activityDocument(view),
      elapsed_secs: elapsedSecs(run, world.clock.now()),
      checks: checkDocuments(space, run),
    })
  },
  text: (run) => [describe(run), ...(run.report === undefined ? [] : ["", run.report])].join("\n"),
})

export const runFiles = implement(RUN_FILES, {
  run: async (input, world) => {
    const state = openState(world)
    const space = spaceHere(input.space, state, world)
    const run = await findRun(space, input.runId, state)
    return { run_id: run.id, files: filesTouched(space, run) }
  },
  text: ({ files }) => files.join("\n"),
})

const describe = (run: RunDocument): string => {
  const exit = run.exit_code === undefined ? "" : ` (exit ${run.exit_code})`
  const failure = [run.failure_reason, run.message].filter((part) => part !== undefined).join(": ")
  const tokens = run.input_tokens === undefined ? undefined : tokenLine(run)
  const lines: readonly (readonly [string, string | undefined])[] = [
    ["Run", run.run_id],
    ["Status", `${standing(standingOf(run))}${exit}`],
    ["Task", run.task === undefined ? undefined : taskLine(run.task)],
    ["Activity", run.exit_code === undefined ? run.activity?.line : undefined],
    ["Sent", wordsLine(run)],
    ["Model", run.model === "" ? modelName(run.model, run.harness) : `${run.model} (${run.harness})`],
    ["Agent", run.agent],
    ["Skills", run.skills?.join(", ")],
    ["Elapsed", run.duration_secs === undefined ? seconds(run.elapsed_secs) : undefined],
    ["Duration", run.duration_secs === undefined ? undefined : seconds(run.duration_secs)],
    ["Space", run.space_id],
    ["Chat", run.chat_id],
    ["Continues", run.continued_from],
    ["Attempts", attemptsLine(run)],
    ["Not pinned", unpinnedLine(run)],
    ["Verdict", verdictLine(run)],
    ["Checks", checksLine(run)],
    [run.exit_code === undefined ? "Because" : "Failure", failure === "" ? undefined : failure],
    ["Tokens", tokens],
    ["Cost", run.cost_usd === undefined ? undefined : dollars(run.cost_usd, 4)],
    ["Harness session", run.harness_session_id],
    ["Worktree", worktreeLine(run)],
    [
      "Contest",
      run.contest_id === undefined ? undefined : `'meridian run compare ${run.run_id}' shows the others`,
    ],
    ["Sandbox", run.sandbox === undefined ? undefined : sandboxWords(run.sandbox)],
    ["Beside", besideLine(run)],
    ["Report", run.report_path],
    ["Files", run.files_touched?.join(", ")],
  ]
  return lines.flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`])).join("\n")
}

const standingOf = (run: RunDocument): RunStanding => ({
  status: run.status,
  waitingUntil: run.waiting_until,
  waitingFor: run.waiting_for,
})

const wordsLine = ({ words }: RunDocument): string | undefined => {
  const last = words?.waiting.at(-1)
  if (words === undefined || last === undefined) return undefined
  const count = words.waiting.length === 1 ? "" : `${words.waiting.length} times, last `
  return `${count}${JSON.stringify(oneLine(last.text, WORDS))} (${last.handed_over ? "handed over" : `will be told ${TOLD_WHEN[words.told]}`})`
}

const WORDS = 120

const worktreeLine = ({ worktree }: RunDocument): string | undefined =>
  worktree === undefined
    ? undefined
    : `${worktree.path} (${worktree.branch}${worktree.state === "open" ? "" : `, ${worktree.state}`})`

const besideLine = ({ besides }: RunDocument): string | undefined =>
  besides === undefined
    ? undefined
    : `${besides.join(", ")} wrote into the same checkout; --worktree keeps runs apart`

const verdictLine = ({ verdict, changed_check_files: files = [] }: RunDocument): string | undefined => {
  if (verdict === undefined) return undefined
  if (verdict === "unverified") return "unverified (no check was given)"
  return files.length === 0
    ? verdict
    : `${verdict}, but the agent changed what the checks depend on: ${files.join(", ")}`
}

/** The checks that ran last. */
const checksLine = ({ checks = [] }: RunDocument): string | undefined => {
  const last = checks.at(-1)
  if (last === undefined) return undefined
  const of = checks.filter(({ place, attempt }) => place === last.place && attempt === last.attempt)
  const rounds = new Set(checks.filter(({ place }) => place === "run").map(({ attempt }) => attempt)).size
  const told = of.map(
    ({ command, ended, exit_code: exit, duration_secs: secs }) =>
      `${command} (${ended === "ended" ? `exit ${exit ?? "-"}` : ended}, ${seconds(secs)})`,
  )
  return `${told.join(", ")}${rounds > 1 ? `, round ${rounds}` : ""}${last.place === "apply" ? ", as it would be applied" : ""}`
}

/** For the last attempt: after a compaction there, the task survives only in the summary. */
const unpinnedLine = ({ attempts = [] }: RunDocument): string | undefined => {
  const last = attempts.at(-1)
  return last?.unpinned === undefined ? undefined : `in ${last.harness}: ${last.unpinned}`
}

/** A single attempt adds nothing to the rest. */
const attemptsLine = ({ attempts = [] }: RunDocument): string | undefined =>
  attempts.length < 2
    ? undefined
    : `${attempts.length} (${attempts.map(({ harness, why = "running" }) => `${harness} ${why}`).join(", ")})`

const tokenLine = (run: RunDocument): string => {
  const cached =
    run.cached_input_tokens === undefined || run.cached_input_tokens === 0
      ? ""
      : ` (+${run.cached_input_tokens} cached)`
  return `${run.input_tokens} in${cached}, ${run.output_tokens ?? 0} out`
}
