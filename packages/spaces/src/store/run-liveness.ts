/**
 * Which runs really live. The lock of a run is held by its worker and by the harness, which inherits it: when both are
 * gone, the next command of anybody sees that the lock is free, ends what is left of the run and records it as an orphan.
 * A run whose lock is held is touched by no command, also when only its harness is left; that one the supervisor ends.
 */
import { existsSync } from "node:fs"

import { systemCode, type RunId } from "@meridian/protocol"

import { asRunId } from "../domain/identifier.ts"
import { LIMIT } from "../domain/limit.ts"
import { isEnded, type Run, type RunEnd } from "../domain/run.ts"
import type { OnDamage } from "./journal.ts"
import { lockHolders } from "./lock-holders.ts"
import { probeLocks } from "./lock-probe.ts"
import { acquireLock } from "./lock.ts"
import { runPlace, type SpacePlace } from "./place.ts"
import { isAlive, processesWith, signalGroup, signalProcess } from "./process-table.ts"
import { endRunFromOutside, readRun } from "./run-store.ts"
import { directoryNames } from "./space-store.ts"

const ORPHAN = "orphan_run"

/** Variable that every process of a run inherits, and whose value no other run has. */
export const RUN_MARK = "MERIDIAN_REPORT_PATH"

export interface Repair {
  /** ISO time. */
  readonly now: () => string
  readonly sleep: (milliseconds: number) => Promise<void>
  readonly onDamage: OnDamage
  /** Whether somebody will carry on with a run whose worker is gone; if not, why, as the end of a sentence. */
  readonly resumable: (space: SpacePlace, run: Run) => true | string
}

/** Runs without an end whose lock is held. The pid is asked first: as long as workers live, no process is started. */
export const liveRuns = async (space: SpacePlace, runs: readonly Run[]): Promise<ReadonlySet<RunId>> => {
  const open = runs.filter((run) => !isEnded(run))
  const unsure = open.filter((run) => run.worker === undefined || !isAlive(run.worker))
  const held =
    unsure.length === 0 ? new Set() : await probeLocks(unsure.map((run) => runPlace(space, run.id).lock))
  return new Set(
    open
      .filter((run) => !unsure.includes(run) || held.has(runPlace(space, run.id).lock))
      .map((run) => run.id),
  )
}

/** The harness that lives on after the worker of its run was killed: it holds the lock of the run. */
export const leftWorking = (
  space: SpacePlace,
  run: Run,
): { readonly process: number; readonly program: string } | undefined => {
  if (run.worker === undefined || isAlive(run.worker)) return undefined
  const [first] = lockHolders(runPlace(space, run.id).lock)
  return first === undefined ? undefined : { process: first.pid, program: first.name }
}

/** The same runs, each as it truly stands. */
export const settleRuns = async (
  space: SpacePlace,
  runs: readonly Run[],
  repair: Repair,
): Promise<readonly Run[]> => {
  if (runs.every(isEnded)) return runs
  const live = await liveRuns(space, runs)
  const settled: Run[] = []
  for (const run of runs)
    settled.push(isEnded(run) || live.has(run.id) ? run : await settleDead(space, run, repair))
  return settled
}

/** Lock files of runs that nobody holds: a writer may die between the lock and the first row. Tells how many there were. */
export const removeStaleRunLocks = async (space: SpacePlace): Promise<number> => {
  const locks = directoryNames(space.runs).flatMap((name) => {
    const id = asRunId(name)
    return id === undefined ? [] : [runPlace(space, id).lock]
  })
  const there = locks.filter((path) => existsSync(path))
  const held = there.length === 0 ? new Set() : await probeLocks(there)
  let removed = 0
  for (const path of there) {
    const lock = held.has(path) ? undefined : await acquireLock(path, { waitMs: 0 })
    if (lock === undefined) continue
    lock.release({ remove: true })
    removed += 1
  }
  return removed
}

/**
 * Nobody works on it. What waits for a person, or for somebody to carry it on, is left as it is; what was to be stopped is
 * stopped.
 */
const settleDead = async (space: SpacePlace, run: Run, repair: Repair): Promise<Run> => {
  if (run.asked === "stop") return await settle(space, run, { ...repair, end: stoppedEnd(repair) })
  const verdict = repair.resumable(space, run)
  return verdict === true ? run : await settle(space, run, { ...repair, end: orphanEnd(repair, verdict) })
}

interface EndRepair extends Repair {
  readonly end: RunEnd
}

const settle = async (space: SpacePlace, run: Run, repair: EndRepair): Promise<Run> => {
  try {
    return await recordEnd(space, run, repair)
  } catch (error) {
    // Where we may not write, a reader still learns the truth; somebody who may will write it down.
    if (!isRefused(error)) throw error
    return { ...run, status: repair.end.status, end: repair.end }
  }
}

const recordEnd = async (space: SpacePlace, run: Run, repair: EndRepair): Promise<Run> => {
  const files = runPlace(space, run.id)
  // Held by us, nobody else repairs the same run at once, and nobody takes it for alive for long.
  const lock = await acquireLock(files.lock, { waitMs: LIMIT.livenessWaitMs })
  if (lock === undefined) return run
  try {
    const now = readRun(space, run.id, repair.onDamage) ?? run
    if (isEnded(now)) return now
    await endLeftovers(now, files.report, repair.sleep)
    await endRunFromOutside(space, run.id, repair.end)
    return readRun(space, run.id, repair.onDamage) ?? now
  } finally {
    lock.release({ remove: true })
  }
}

/** Somebody had asked for it, and whoever should have answered was killed. */
const stoppedEnd = ({ now }: Repair): RunEnd => ({
  status: "cancelled",
  exitCode: 143,
  finishedAt: now(),
  error: "cancelled",
  by: "cancel",
})

const orphanEnd = ({ now }: Repair, why: string): RunEnd => ({
  status: "failed",
  exitCode: 1,
  finishedAt: now(),
  error: ORPHAN,
  message: `Its worker is gone and did not say how it ended; it cannot be resumed: ${why}.`,
  by: "repair",
})

const REFUSALS = new Set(["EACCES", "EPERM", "EROFS", "ENOSPC", "EDQUOT", "ENOTDIR", "EEXIST"])

const isRefused = (error: unknown): boolean => REFUSALS.has(systemCode(error))

const STEP_MS = 20
const STEPS = 25

/** Ends the harness of a worker that is gone: asked first, then killed. */
export const endLeftovers = async (run: Run, report: string, sleep: Repair["sleep"]): Promise<void> => {
  const signal = (name: "SIGTERM" | "SIGKILL"): boolean => {
    const group = run.harnessProcess === undefined ? false : signalGroup(run.harnessProcess, name)
    const others = processesWith(RUN_MARK, report).filter((pid) => signalProcess(pid, name))
    return group || others.length > 0
  }
  if (!signal("SIGTERM")) return
  for (let step = 0; step < STEPS; step += 1) {
    await sleep(STEP_MS)
    const leader = run.harnessProcess
    const gone = leader === undefined || !isAlive(leader)
    if (gone && processesWith(RUN_MARK, report).length === 0) return
  }
  signal("SIGKILL")
}
