/** The checks of a run, carried out one after the other in one place. Each is recorded as soon as it has ended. */
import { rmSync } from "node:fs"
import { basename } from "node:path"

import { withoutCredentials, type RunId } from "@meridian/protocol"

import type { CheckEventRecord } from "../domain/check-record.ts"
import { endOf, isGreen, type ChecksPlan, type ToldResult } from "../domain/check.ts"
import { LIMIT } from "../domain/limit.ts"
import { appendEvents } from "../store/journal.ts"
import { checkLog, runPlace, type SpacePlace } from "../store/place.ts"
import { RUN_MARK } from "../store/run-liveness.ts"
import { readRun, recordCheck } from "../store/run-store.ts"
import { runProgram, type ProgramEnd } from "./bounded-program.ts"
import { wrapInSandbox } from "./open-sandbox.ts"
import type { State } from "./state.ts"
import type { World } from "./world.ts"

export interface ChecksWish {
  readonly run: RunId
  readonly space: SpacePlace
  readonly plan: ChecksPlan
  readonly cwd: string
  readonly place: CheckEventRecord["place"]
  readonly attempt: number
  /** Called after each check, to undo what it did to its place. */
  readonly putBack: () => Promise<void>
  readonly state: State
  readonly world: Pick<World, "env" | "clock" | "uuid" | "progress">
  readonly signal: AbortSignal
}

/** Runs all of them, even after a red one, but none after one that was stopped. */
export const runChecks = async (wish: ChecksWish): Promise<readonly ToldResult[]> => {
  const { plan, signal, putBack } = wish
  const results: ToldResult[] = []
  for (const command of plan.commands) {
    const result = await runCheck(command, wish)
    results.push(result)
    await putBack()
    if (signal.aborted) break
  }
  return results
}

const runCheck = async (command: string, wish: ChecksWish): Promise<ToldResult> => {
  const { run, space, plan, cwd, place, attempt, state, world, signal } = wish
  const files = runPlace(space, run)
  const log = checkLog(files, (readRun(space, run, state.onDamage)?.checks?.length ?? 0) + 1)
  // Left by a worker that was killed while it ran.
  rmSync(log, { force: true })
  world.progress(`Run ${run} checks: ${command}`)
  appendEvents(files.events, [{ at: state.now(), type: "check", command }])
  const env = withoutCredentials(world.env, { secrets: [], keep: plan.keepVariables })
  const { sandbox: use } = plan
  const argv =
    use === undefined
      ? undefined
      : await wrapInSandbox({ use, place: state.place, env: world.env, directory: cwd, isAlone: true }, [
          "/bin/sh",
          "-c",
          command,
        ])
  const end = await runProgram({
    command,
    argv,
    cwd,
    env: {
      ...env,
      // This mark identifies what is left of a run.
      [RUN_MARK]: files.report,
    },
    log,
    limitMs: plan.timeoutMs,
    clock: world.clock,
    signal,
    uuid: world.uuid,
  })
  const result = {
    at: state.now(),
    place,
    attempt,
    command,
    why: end.why,
    ...(end.exitCode === undefined ? {} : { exitCode: end.exitCode }),
    durationSecs: Math.round(end.durationMs) / 1000,
    log: basename(log),
  }
  await recordCheck(space, { event: "check", id: run, ...result, output: lastBytes(end.tail) })
  appendEvents(files.events, [
    { at: result.at, type: "check", command, ended: endOf(result), green: isGreen(result) },
  ])
  return { ...result, output: end.tail, isCut: isCut(end) }
}

const isCut = ({ tail, dropped }: ProgramEnd): boolean =>
  dropped > 0 || Buffer.byteLength(tail) >= LIMIT.toldOutputBytes

const lastBytes = (tail: string): string => {
  const bytes = Buffer.from(tail)
  return bytes.length <= LIMIT.recordedOutputBytes
    ? tail
    : bytes.subarray(-LIMIT.recordedOutputBytes).toString("utf8").toWellFormed()
}
