/**
 * Looks again and again at the runs of a state root, finds those that no process works on and that are due, and
 * starts a worker for each. A space that cannot be read (damaged, of a newer Meridian) is left alone. A run whose
 * worker fails before it has begun anything is retried with growing delays, so that a full disk or a missing program
 * causes no busy loop.
 */
import type { RunId } from "@meridian/protocol"

import { asSpaceId } from "../domain/identifier.ts"
import { isEnded, type Run } from "../domain/run.ts"
import { probeLocks } from "../store/lock-probe.ts"
import { runPlace, spacePlace, type SpacePlace } from "../store/place.ts"
import { isAlive } from "../store/process-table.ts"
import { settleRuns } from "../store/run-liveness.ts"
import { logWatch, readOpenRuns } from "../store/run-store.ts"
import { directoryNames } from "../store/space-store.ts"
import { supervisorEnvironment } from "./child-environment.ts"
import { launchWorker } from "./launch-worker.ts"
import { openLeftHarnesses, type LeftHarnesses } from "./left-harnesses.ts"
import type { State } from "./state.ts"
import { readStoredPlan } from "./stored-plan.ts"
import type { World } from "./world.ts"

type LookingWorld = Pick<World, "env" | "cwd" | "clock" | "program" | "uuid" | "signal">

export interface RunKeeper {
  /** Returns how many runs there are to supervise. `elapsedMs` comes from a monotonic clock. */
  readonly look: (elapsedMs: number) => Promise<number>
}

export const openRunKeeper = (state: State, world: LookingWorld): RunKeeper => {
  const watches = new Map<string, SpaceWatch>()
  return {
    look: async (elapsedMs) => {
      let open = 0
      for (const name of directoryNames(state.place.spaces)) {
        const id = asSpaceId(name)
        if (id === undefined) continue
        const watch = watches.get(id) ?? openWatch(spacePlace(state.place, id), state)
        watches.set(id, watch)
        open += await lookAt(watch, { elapsedMs, state, world }).catch(() => 0)
      }
      return open
    },
  }
}

interface SpaceWatch {
  readonly space: SpacePlace
  readonly isNews: () => boolean
  runs: readonly Run[]
  readonly timers: Map<RunId, Timer>
  readonly tries: Map<RunId, Tries>
  readonly left: LeftHarnesses
}

/** When a waiting run is due by the monotonic clock: setting the clock back must not make the wait longer. */
interface Timer {
  readonly until: string
  readonly dueMs: number
}

/** Workers started for a run since it last changed. */
interface Tries {
  readonly state: string
  readonly count: number
  readonly againMs: number
}

/** Liveness is checked at every look. A log without news is only reread now and then, because a long one takes a while. */
const LOOKS_WITHOUT_NEWS = 600

const openWatch = (space: SpacePlace, state: State): SpaceWatch => ({
  space,
  isNews: logWatch(space, LOOKS_WITHOUT_NEWS),
  runs: [],
  timers: new Map(),
  tries: new Map(),
  left: openLeftHarnesses(space, state),
})

interface Look {
  readonly elapsedMs: number
  readonly state: State
  readonly world: LookingWorld
}

/** A log that has not grown is not read again. */
const lookAt = async (watch: SpaceWatch, look: Look): Promise<number> => {
  const { space } = watch
  if (watch.isNews()) watch.runs = readOpenRuns(space, look.state.onDamage)
  if (watch.runs.length === 0) return 0
  const due = watch.runs.filter((run) => isDue(run, watch, look))
  if (due.length > 0) await carryOn(due, watch, look)
  return watch.runs.filter(({ status }) => status !== "paused").length
}

/** No process works on it, and it is due. */
const isDue = (run: Run, watch: SpaceWatch, { world, elapsedMs }: Look): boolean => {
  if (run.worker !== undefined && isAlive(run.worker)) return false
  const tried = watch.tries.get(run.id)
  if (tried?.state === stateOf(run) && tried.againMs > elapsedMs) return false
  if (run.asked === "stop") return true
  if (run.status === "paused") return run.asked === "resume"
  if (run.status !== "waiting" || run.waitingUntil === undefined || run.asked === "resume") return true
  const left = Date.parse(run.waitingUntil) - world.clock.now()
  const known = watch.timers.get(run.id)
  const timer =
    known?.until === run.waitingUntil ? known : { until: run.waitingUntil, dueMs: elapsedMs + left }
  watch.timers.set(run.id, timer)
  return !(left > 0) || timer.dueMs <= elapsedMs
}

const stateOf = ({ status, attempts, worker }: Run): string =>
  `${status} ${attempts.length} ${worker?.pid ?? ""} ${worker?.started ?? ""}`

const FIRST_DELAY_MS = 1_000
const LONGEST_DELAY_MS = 60_000

/** A run that cannot be resumed ends here. A run whose harness still works is resumed once that has ended. */
const carryOn = async (
  due: readonly Run[],
  { space, tries, left }: SpaceWatch,
  { elapsedMs, state, world }: Look,
): Promise<void> => {
  const held = await probeLocks(due.map((run) => runPlace(space, run.id).lock))
  const isHeld = (run: Run): boolean => held.has(runPlace(space, run.id).lock)
  for (const run of due)
    if (isHeld(run)) await left.look(run, elapsedMs)
    else left.forget(run.id)
  const free = due.filter((run) => !isHeld(run))
  for (const run of await settleRuns(space, free, state)) {
    if (isEnded(run) || world.signal.aborted) continue
    // Its project was moved, so it is resumed only after a person has confirmed the move.
    if (readStoredPlan(space, run.id, state, world).tag === "moved") continue
    const known = tries.get(run.id)
    const count = known?.state === stateOf(run) ? known.count + 1 : 1
    const delayMs = Math.min(FIRST_DELAY_MS * 2 ** Math.min(count, 10), LONGEST_DELAY_MS)
    tries.set(run.id, { state: stateOf(run), count, againMs: elapsedMs + delayMs })
    await resumeInWorker(space, run.id, state, world)
  }
}

export const resumeInWorker = async (
  space: SpacePlace,
  run: RunId,
  state: State,
  world: Pick<World, "program" | "cwd" | "env" | "uuid">,
): Promise<void> => {
  try {
    await launchWorker({ kind: "resume", space: space.id, run }, state, {
      ...world,
      env: supervisorEnvironment(world.env, state.place),
    })
  } catch {
    // Its plan or its harness is gone: the next look settles the run, or tries again.
  }
}
