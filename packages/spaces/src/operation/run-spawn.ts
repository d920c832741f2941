import { resolve } from "node:path"

import { Failure, type SpaceId } from "@meridian/protocol"

import { modelsFor, MOST_CONTESTANTS } from "../domain/contest.ts"
import { renderWarning, warning } from "../domain/warning.ts"
import type { LoadedConfig } from "../store/config-file.ts"
import { spacePlace } from "../store/place.ts"
import { createSpace, findSpace } from "../store/space-store.ts"
import { runBestOf } from "./best-of.ts"
import { capsFor } from "./budget-fields.ts"
import { carryOut } from "./carry-out.ts"
import { checkRun, dryRun, requireDepth, type CheckedRun } from "./check-run.ts"
import { chooseChecks } from "./choose-checks.ts"
import { comparedText } from "./compare-runs.ts"
import { readConfig } from "./config.ts"
import { prepareFailover } from "./failover.ts"
import type { InputOf } from "./field.ts"
import { isolationOf, siteFor } from "./isolate-run.ts"
import { runWorker } from "./launch-worker.ts"
import { chooseSandbox } from "./open-sandbox.ts"
import { openState } from "./open-state.ts"
import { implement, type Passthrough } from "./operation.ts"
import { parentTier, placeHere } from "./parent.ts"
import { prepare, type Prepared, type PrepareRequest } from "./prepare.ts"
import { failoverWith, readSchema, requireSchemas } from "./read-schema.ts"
import { seconds } from "./run-document.ts"
import type { SpawnDocument } from "./run-schema.ts"
import { RUN_SPAWN, RUN_WORKER } from "./run.meta.ts"
import { shellLine } from "./shell-words.ts"
import { givenSpace } from "./space-context.ts"
import type { State } from "./state.ts"
import type { World } from "./world.ts"

export const runSpawn = implement(RUN_SPAWN, {
  run: async (input, world) => {
    const state = openState(world)
    const loaded = await readConfig(world)
    const { config } = loaded
    if ((input.prompt ?? "").trim() === "") throw new Failure("PROMPT_REQUIRED")
    const given = givenSpace(input.space, world)
    const space = given === undefined ? undefined : findSpace(state.place, given)
    if (space?.status === "closed") throw new Failure("SPACE_CLOSED", { space: space.id })
    if (!input.dryRun) requireDepth(space?.id, { state, world, config })
    const models = contestants(input)
    const check = (model: string | undefined) =>
      checkSpawn(
        { ...input, model },
        { isContest: models !== undefined, loaded, space: space?.id, state, world },
      )
    const [{ checked, prepared }, ...others] = await allOf(models, check, input.model)
    if (input.dryRun) return dryRun(checked, prepared)
    const make = async (): Promise<SpaceId> => {
      const made = await createSpace(state.place, { name: undefined, now: state.now() })
      world.warn("SPACE_AUTO_CREATED", { space: made.id })
      return made.id
    }
    const used = space?.id ?? (world.ownSpace === undefined ? await make() : await world.ownSpace(make))
    if (models === undefined) return await carryOut(checked.plan(used), state, world, input.quiet)
    const contest = world.uuid()
    const plans = [checked, ...others.map((other) => other.checked)].map((one) => one.plan(used))
    return await runBestOf(plans, contest, state, world)
  },
  text: (run) => spawnText(run),
  notes: (run) => spawnNotes(run),
  exitCode: (run) => exitCodeOf(run),
})

type Input = InputOf<typeof RUN_SPAWN.fields> & Passthrough

/** Everything that is checked before one of the runs begins. */
const checkSpawn = async (
  input: Input,
  {
    isContest,
    loaded,
    space,
    state,
    world,
  }: {
    readonly isContest: boolean
    readonly loaded: LoadedConfig
    readonly space: SpaceId | undefined
    readonly state: State
    readonly world: World
  },
): Promise<{ readonly checked: CheckedRun; readonly prepared: Prepared }> => {
  const { config } = loaded
  const cwd = input.cwd === undefined ? placeHere(space, state, world) : resolve(world.cwd, input.cwd)
  const request: PrepareRequest = {
    mode: "headless",
    directory: cwd,
    model: input.model,
    harness: input.harness,
    agent: input.agent,
    skills: input.skills,
    files: input.files,
    variables: input.templateVars,
    prompt: input.prompt,
    permission: input.permission,
    parentTier: parentTier(space, state, world),
    spaceFs: space === undefined ? undefined : spacePlace(state.place, space).fs,
  }
  const schema = readSchema(input.schema, world)
  const prepared = await prepare(request, loaded, world)
  requireSchemas(prepared.harness, schema)
  const asked = input.given.has("failover") ? input.failover : undefined
  const prepares = await prepareFailover({ asked, request, prepared }, loaded, world)
  const failover = await failoverWith(prepares, schema, world)
  // Several runs at one task would overwrite each other.
  const wish = { ...input, worktree: input.worktree || isContest }
  const isolation = isolationOf(wish, { config, permission: prepared.permission })
  if (isolation?.wish === "always") await siteFor(cwd, state, world)
  const checked = await checkRun(
    {
      prepared,
      schema,
      config,
      space: space,
      cwd,
      isolation,
      checks: chooseChecks({ input, prepared, config, parentTier: request.parentTier }),
      sandbox: await chooseSandbox(
        {
          config,
          mode: input.sandbox,
          network: input.sandboxNetwork,
          isBound: request.parentTier !== undefined || world.face === "tool",
          harness: prepared.entry,
          isOnTerminal: false,
          what: "The run",
        },
        world,
      ),
      session: { kind: "new" },
      task: input.task,
      failover,
      timeoutSecs: input.timeoutSecs,
      asks: input.ask,
      caps: capsFor(input, { config, isAgents: request.parentTier !== undefined }),
      background: input.background,
      firing: input.firing,
      params: input.args,
    },
    state,
    world,
  )
  return { checked, prepared }
}

/** The model of each run of a contest. Undefined if there is no contest. */
const contestants = (input: Input): readonly (string | undefined)[] | undefined => {
  const models = [...new Set(input.models)]
  const count = input.bestOf ?? (models.length === 0 ? undefined : models.length)
  if (count === undefined) return undefined
  const refuse = (problem: string, next: string): never => {
    throw new Failure("USAGE", { problem, next })
  }
  if (count > MOST_CONTESTANTS) refuse(`--best-of is at most ${MOST_CONTESTANTS}.`, "give a smaller number.")
  if (models.length > count)
    refuse(`--models names ${models.length} models for ${count} runs.`, "give a larger --best-of.")
  if (models.length > 0 && input.model !== undefined)
    refuse("Cannot combine --model with --models.", "give one of them.")
  if (input.firing !== undefined) refuse("A firing of a schedule begins one run.", "leave --best-of out.")
  return modelsFor(count, models.length === 0 && input.model !== undefined ? [input.model] : models)
}

/** Checks a model once, however many runs it gets. */
const allOf = async <T>(
  models: readonly (string | undefined)[] | undefined,
  check: (model: string | undefined) => Promise<T>,
  single: string | undefined,
): Promise<readonly [T, ...(readonly T[])]> => {
  const known = new Map<string | undefined, T>()
  const [first, ...others] = models ?? [single]
  const one = async (model: string | undefined): Promise<T> => {
    const found = known.get(model) ?? (await check(model))
    known.set(model, found)
    return found
  }
  const all: [T, ...T[]] = [await one(first)]
  for (const model of others) all.push(await one(model))
  return all
}

/** A paused run has not ended, so it has its own exit code. */
export const exitCodeOf = (run: SpawnDocument): number => run.exit_code ?? (run.status === "paused" ? 4 : 0)

export const runWorkerOperation = implement(RUN_WORKER, {
  run: async ({ log }, world) => {
    const { runId, exitCode } = await runWorker(log, world)
    return { run_id: runId ?? "", exit_code: exitCode }
  },
  text: () => "",
})

/** Only what the caller wants: the report, the id of a background run, or the plan of a dry run. */
export const spawnText = (run: SpawnDocument): string => {
  if (run.contest !== undefined)
    return run.background === true
      ? run.contest.map((one) => one.run_id).join("\n")
      : comparedText(run.contest)
  if (run.status === "dry-run") return `${shellLine(run.cli_command ?? [])}\n\n${run.composed_prompt ?? ""}`
  if (run.background === true) return run.run_id ?? ""
  return run.report ?? ""
}

export const spawnNotes = (run: SpawnDocument): string => {
  if (run.status === "dry-run") return ""
  const facts = [
    `run_id=${run.run_id}`,
    // Every field is always present, because programs read this line. A harness that chooses its model uses its
    // default.
    `model=${run.model === undefined || run.model === "" ? "default" : run.model}`,
    `harness=${run.harness}`,
    `status=${run.status}`,
    ...(run.duration_secs === undefined ? [] : [`duration=${seconds(run.duration_secs)}`]),
    ...(run.exit_code === undefined ? [] : [`exit_code=${run.exit_code}`]),
    ...(run.verdict === undefined || run.verdict === "unverified" ? [] : [`verdict=${run.verdict}`]),
  ].join(" ")
  // A message that is itself an error line gets its own line.
  const glue = run.message?.startsWith("ERROR [") === true ? "\n" : ": "
  const failure = [run.failure_reason, run.message].filter((part) => part !== undefined).join(glue)
  const noReport =
    run.background !== true && run.report === undefined
      ? [renderWarning(warning("NO_REPORT", { run: run.run_id ?? "", events: run.events_path ?? "" }))]
      : []
  return [facts, ...(failure === "" ? [] : [`failure: ${failure}`]), ...noReport].join("\n")
}
