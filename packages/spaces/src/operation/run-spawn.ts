import { resolve } from "node:path"

import { Failure, type SpaceId } from "@meridian/protocol"

import { renderWarning, warning } from "../domain/warning.ts"
import { spacePlace } from "../store/place.ts"
import { createSpace, findSpace } from "../store/space-store.ts"
import { carryOut } from "./carry-out.ts"
import { checkRun, dryRun, requireDepth } from "./check-run.ts"
import { chooseChecks } from "./choose-checks.ts"
import { readConfig } from "./config.ts"
import { prepareFailover } from "./failover.ts"
import { isolationOf, siteFor } from "./isolate-run.ts"
import { runWorker } from "./launch-worker.ts"
import { chooseSandbox } from "./open-sandbox.ts"
import { openState } from "./open-state.ts"
import { implement } from "./operation.ts"
import { parentTier, placeHere } from "./parent.ts"
import { prepare, type PrepareRequest } from "./prepare.ts"
import { failoverWith, readSchema, requireSchemas } from "./read-schema.ts"
import { seconds } from "./run-document.ts"
import type { SpawnDocument } from "./run-schema.ts"
import { RUN_SPAWN, RUN_WORKER } from "./run.meta.ts"
import { shellLine } from "./shell-words.ts"
import { givenSpace } from "./space-context.ts"

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
    const request: PrepareRequest = {
      mode: "headless",
      model: input.model,
      harness: input.harness,
      agent: input.agent,
      skills: input.skills,
      files: input.files,
      variables: input.templateVars,
      prompt: input.prompt,
      permission: input.permission,
      parentTier: parentTier(space?.id, state, world),
      spaceFs: space === undefined ? undefined : spacePlace(state.place, space.id).fs,
    }
    const schema = readSchema(input.schema, world)
    const prepared = await prepare(request, loaded, world)
    requireSchemas(prepared.harness, schema)
    const asked = input.given.has("failover") ? input.failover : undefined
    const prepares = await prepareFailover({ asked, request, prepared }, loaded, world)
    const failover = await failoverWith(prepares, schema, world)
    const cwd = input.cwd === undefined ? placeHere(space?.id, state, world) : resolve(world.cwd, input.cwd)
    const isolation = isolationOf(input, { config, permission: prepared.permission })
    if (isolation?.wish === "always") await siteFor(cwd, state, world)
    const checked = await checkRun(
      {
        prepared,
        schema,
        config,
        space: space?.id,
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
        background: input.background,
        firing: input.firing,
        params: input.args,
      },
      state,
      world,
    )
    if (input.dryRun) return dryRun(checked, prepared)
    const make = async (): Promise<SpaceId> => {
      const made = await createSpace(state.place, { name: undefined, now: state.now() })
      world.warn("SPACE_AUTO_CREATED", { space: made.id })
      return made.id
    }
    const used = space?.id ?? (world.ownSpace === undefined ? await make() : await world.ownSpace(make))
    return await carryOut(checked.plan(used), state, world, input.quiet)
  },
  text: (run) => spawnText(run),
  notes: (run) => spawnNotes(run),
  exitCode: (run) => exitCodeOf(run),
})

/** A run that is paused has not ended: a code of its own says so. */
export const exitCodeOf = (run: SpawnDocument): number => run.exit_code ?? (run.status === "paused" ? 4 : 0)

export const runWorkerOperation = implement(RUN_WORKER, {
  run: async ({ log }, world) => {
    const { runId, exitCode } = await runWorker(log, world)
    return { run_id: runId ?? "", exit_code: exitCode }
  },
  text: () => "",
})

/** Only what the caller asked for: the report, the id of a background run, or what a dry run would do. */
export const spawnText = (run: SpawnDocument): string => {
  if (run.status === "dry-run") return `${shellLine(run.cli_command ?? [])}\n\n${run.composed_prompt ?? ""}`
  if (run.background === true) return run.run_id ?? ""
  return run.report ?? ""
}

export const spawnNotes = (run: SpawnDocument): string => {
  if (run.status === "dry-run") return ""
  const facts = [
    `run_id=${run.run_id}`,
    // Every field is always there: programs read this line. A harness that chooses by itself uses its default.
    `model=${run.model === undefined || run.model === "" ? "default" : run.model}`,
    `harness=${run.harness}`,
    `status=${run.status}`,
    ...(run.duration_secs === undefined ? [] : [`duration=${seconds(run.duration_secs)}`]),
    ...(run.exit_code === undefined ? [] : [`exit_code=${run.exit_code}`]),
    ...(run.verdict === undefined || run.verdict === "unverified" ? [] : [`verdict=${run.verdict}`]),
  ].join(" ")
  // A message that is an error line of its own stands on its own line.
  const glue = run.message?.startsWith("ERROR [") === true ? "\n" : ": "
  const failure = [run.failure_reason, run.message].filter((part) => part !== undefined).join(glue)
  const noReport =
    run.background !== true && run.report === undefined
      ? [renderWarning(warning("NO_REPORT", { run: run.run_id ?? "", events: run.events_path ?? "" }))]
      : []
  return [facts, ...(failure === "" ? [] : [`failure: ${failure}`]), ...noReport].join("\n")
}
