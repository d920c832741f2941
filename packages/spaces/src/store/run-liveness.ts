/**
 * Which runs are really alive. A run's lock is held by its worker and by the harness, which inherits it. When both
 * are gone, the next command of any kind finds the lock free, ends what is left of the run and records it as an
 * orphan. No command touches a run whose lock is held, even if only its harness is left; the supervisor ends that
 * one.
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

/** Every process of a run inherits this variable, and its value is unique to the run. */
export const RUN_MARK = "MERIDIAN_REPORT_PATH"

export interface Repair {
  /** ISO time. */
  readonly now: () => string
  readonly sleep: (milliseconds: number) => Promise<void>
  readonly onDamage: OnDamage
  /** Whether a supervisor will resume a run whose worker is gone. If not, the reason, as the end of a sentence. */
  readonly resumable: (space: SpacePlace, run: Run) => true | string
}

/** Runs without an end whose lock is held. The pid is checked first: while all workers live, no process is started. */
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

/** The harness that survived its killed worker: it still holds the lock of the run. */
export const leftWorking = (
  space: SpacePlace,
  run: Run,
): { readonly process: number; readonly program: string } | undefined => {
  if (run.worker === undefined || isAlive(run.worker)) return undefined
  const [first] = lockHolders(runPlace(space, run.id).lock)
  return first === undefined ? undefined : { process: first.pid, program: first.name }
}

/** The same runs, each in its true state. */
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

/**
 * Removes run locks that no process holds: a writer may die between the lock and the first row. Returns how many
 * there were.
 */
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
 * No process works on it. A run that waits for a person or for a supervisor is left as it is. A run with a pending
 * stop is stopped.
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
    // If we may not write there, a reader still learns the truth; a process that may will write it down.
    if (!isRefused(error)) throw error
    return { ...run, status: repair.end.status, end: repair.end }
  }
}

const recordEnd = async (space: SpacePlace, run: Run, repair: EndRepair): Promise<Run> => {
  const files = runPlace(space, run.id)
  // While we hold the lock, no other process repairs the same run. We hold it so briefly that nobody takes the run
  // for alive for long.
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

/** A stop was requested, and the process that should have answered was killed. */
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

/** Ends the harness of a dead worker: asks first, then kills. */
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
