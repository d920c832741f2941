/** Runs of a space: `runs.jsonl`, appended under `runs.lock`. A run lives while its worker holds `runs/<rN>/run.lock`. */
import { mkdirSync, statSync } from "node:fs"

import { Failure, textAt, type RunId } from "@meridian/protocol"

import type { CheckEventRecord } from "../domain/check-record.ts"
import { asRunId, nextRunId } from "../domain/identifier.ts"
import type { Fields } from "../domain/json-line.ts"
import { LIMIT } from "../domain/limit.ts"
import { encodeRunRecord } from "../domain/run-record.ts"
import {
  decodeRunEvent,
  encodeRunEnd,
  encodeRunStart,
  encodeRunUpdate,
  isEnded,
  replayRuns,
  type Run,
  type RunEnd,
  type RunEvent,
  type RunStart,
  type RunUpdate,
} from "../domain/run.ts"
import type { WorktreeEventRecord } from "../domain/worktree-record.ts"
import { replaceFile } from "./document.ts"
import { appendEvents, readEvents, scanNewestEvents, type OnDamage } from "./journal.ts"
import { acquireLock, withLock, type HeldLock } from "./lock.ts"
import { scanLines } from "./log-lines.ts"
import { keepPrivate } from "./open-file.ts"
import { runPlace, type StatePlace, type SpacePlace } from "./place.ts"
import { directoryNames, findSpace } from "./space-store.ts"

export interface OpenRun {
  readonly id: RunId
  readonly start: RunStart
  readonly lock: HeldLock
}

/** Every run, in the order they started. */
export const readRuns = (space: SpacePlace, onDamage: OnDamage): readonly Run[] =>
  replay(space, readEvents(space.runsLog, onDamage))

/**
 * Runs that have not ended, in the order they started. For ended runs, only the end is noticed: a log may hold
 * thousands, and a supervisor reads it again and again.
 */
export const readOpenRuns = (space: SpacePlace, onDamage: OnDamage): readonly Run[] => {
  const open = new Set<RunId>()
  scanLines(space.runsLog, (line) => {
    // A quote inside a value is escaped with a backslash, so these are the keys of the line.
    const event = /"event": ?"(start|finalize)"/.exec(line ?? "")?.[1]
    const id = asRunId(/"id": ?"(r\d{1,15})"/.exec(event === undefined ? "" : (line ?? ""))?.[1])
    if (id === undefined) return
    if (event === "finalize") open.delete(id)
    else open.add(id)
  })
  return [...open].flatMap((id) => {
    const run = readRun(space, id, onDamage)
    return run === undefined || isEnded(run) ? [] : [run]
  })
}

/**
 * The newest runs in the order they started. Reads the log only as far back as needed. Of ended runs, it returns
 * those that `accepts` takes; runs without an end are all returned, because their state is not known yet.
 */
export const readNewestRuns = (
  space: SpacePlace,
  wanted: { readonly count: number; readonly accepts?: ((run: Run) => boolean) | undefined },
  onDamage: OnDamage,
): readonly Run[] => {
  const later = new Map<RunId, RunEvent[]>()
  const found: Run[] = []
  let missing = wanted.count
  const each = (fields: Fields): boolean => {
    const event = decodeRunEvent(fields, space.runsLog)
    if (event === undefined) return false
    const known = later.get(event.id) ?? []
    if (event.event !== "start") {
      later.set(event.id, [event, ...known])
      return false
    }
    later.delete(event.id)
    const [run] = replayRuns([event, ...known])
    if (run === undefined) return false
    const accepted = wanted.accepts?.(run) ?? true
    if (accepted || !isEnded(run)) found.push(run)
    if (accepted && (isEnded(run) || wanted.accepts === undefined)) missing -= 1
    return missing <= 0
  }
  scanNewestEvents(space.runsLog, { each, onDamage })
  return found.toReversed()
}

/** One run by its id. Skips lines that do not name it, unread. */
export const readRun = (space: SpacePlace, id: RunId, onDamage: OnDamage): Run | undefined => {
  const events: Fields[] = []
  scanNewestEvents(space.runsLog, {
    concerns: (line) => line.includes(`"${id}"`),
    each: (fields) => {
      events.unshift(fields)
      return fields["event"] === "start" && fields["id"] === id
    },
    onDamage,
  })
  return replay(space, events).find((run) => run.id === id)
}

/** The run that a firing of a schedule began. */
export const readRunOfFiring = (space: SpacePlace, firing: string): Run | undefined =>
  readRuns(space, () => undefined).find((run) => run.firing === firing)

/**
 * Writes the id, the directory with its prompt, the lock and the start event in one critical section: a reader of the
 * start finds the lock held and the prompt there. A space that was closed in between takes no run, and a firing that
 * has begun a run begins no second one.
 */
export const beginRun = (
  place: StatePlace,
  space: SpacePlace,
  options: {
    readonly firing?: string | undefined
    readonly longTask?: string | undefined
    readonly prompt: string
    readonly params: (id: RunId) => Readonly<Record<string, unknown>>
    readonly start: (id: RunId, others: readonly Run[]) => RunStart
  },
): Promise<OpenRun> =>
  withLock(space.runsLock, async () => {
    if (findSpace(place, space.id).status === "closed") throw new Failure("SPACE_CLOSED", { space: space.id })
    const events = readEvents(space.runsLog, () => undefined)
    const { firing } = options
    const begun = firing === undefined ? undefined : events.find((fields) => fields["firing"] === firing)
    if (firing !== undefined && begun !== undefined)
      throw new Failure("SCHEDULE_FIRED", { firing, run: textAt(begun, "id") ?? "" })
    const ids = events.flatMap((fields) => (typeof fields["id"] === "string" ? [fields["id"]] : []))
    const id = nextRunId([...ids, ...directoryNames(space.runs)])
    const files = runPlace(space, id)
    for (const folder of [place.spaces, space.directory, space.runs]) keepPrivate(folder)
    mkdirSync(files.directory, { recursive: true, mode: 0o700 })
    // If the record holds the whole task, it needs no file.
    if (options.longTask !== undefined) replaceFile(files.task, options.longTask)
    replaceFile(files.prompt, options.prompt)
    replaceFile(files.params, `${JSON.stringify(options.params(id), undefined, 2)}\n`)
    const lock = await acquireLock(files.lock, { waitMs: LIMIT.livenessWaitMs })
    if (lock === undefined)
      throw new Failure("LOCK_TIMEOUT", { file: files.lock, seconds: LIMIT.livenessWaitMs / 1000 })
    try {
      const start = options.start(id, replay(space, events))
      appendEvents(space.runsLog, [encodeRunStart(start)])
      return { id, start, lock }
    } catch (error) {
      lock.release({ remove: true })
      throw error
    }
  })

export const updateRun = (space: SpacePlace, id: RunId, update: RunUpdate): Promise<void> =>
  withLock(space.runsLock, () => appendEvents(space.runsLog, [encodeRunUpdate(id, update)]))

/** Decides on what the log says now and appends the result, in one critical section. */
export const updateRunIf = (
  space: SpacePlace,
  id: RunId,
  decide: (runs: readonly Run[]) => RunUpdate | undefined,
): Promise<boolean> =>
  withLock(space.runsLock, () => {
    const update = decide(readRuns(space, () => undefined))
    if (update !== undefined) appendEvents(space.runsLog, [encodeRunUpdate(id, update)])
    return update !== undefined
  })

/** Records what became of worktrees, even after their runs have ended. */
export const recordWorktrees = (space: SpacePlace, happened: readonly WorktreeEventRecord[]): Promise<void> =>
  withLock(space.runsLock, () => appendEvents(space.runsLog, happened.map(encodeRunRecord)))

export const recordCheck = (space: SpacePlace, check: CheckEventRecord): Promise<void> =>
  withLock(space.runsLock, () => appendEvents(space.runsLog, [encodeRunRecord(check)]))

/** Records how the run ended, then releases the lock. */
export const endRun = (space: SpacePlace, open: Pick<OpenRun, "id" | "lock">, end: RunEnd): Promise<void> =>
  withLock(space.runsLock, () => {
    appendEvents(space.runsLog, [encodeRunEnd(open.id, end)])
    open.lock.release({ remove: true })
  })

/** Records an end that another process decided. Writes nothing if the run already has one. */
export const endRunFromOutside = (space: SpacePlace, id: RunId, end: RunEnd): Promise<boolean> =>
  withLock(space.runsLock, () => {
    const run = readRun(space, id, () => undefined)
    if (run === undefined || run.end !== undefined) return false
    appendEvents(space.runsLog, [encodeRunEnd(id, end)])
    return true
  })

/** When a run of this space last started, without reading the whole log. */
export const lastRunStart = (space: SpacePlace, onDamage: OnDamage): string | undefined =>
  readNewestRuns(space, { count: 1 }, onDamage).at(-1)?.startedAt

/**
 * For a caller that polls. True if the log has grown since the last call, and now and then anyway, because the death
 * of a worker writes nothing.
 */
export const logWatch = (space: SpacePlace, looksWithoutNews = LOOKS_WITHOUT_NEWS): (() => boolean) => {
  let seen = ""
  let looks = 0
  return () => {
    const stats = statSync(space.runsLog, { throwIfNoEntry: false })
    const now = stats === undefined ? "none" : `${stats.ino} ${stats.size} ${stats.mtimeMs}`
    looks += 1
    if (now === seen && looks % looksWithoutNews !== 0) return false
    seen = now
    return true
  }
}

const LOOKS_WITHOUT_NEWS = 5

const replay = (space: SpacePlace, events: readonly Fields[]): readonly Run[] =>
  replayRuns(events.flatMap((fields) => decodeRunEvent(fields, space.runsLog) ?? []))
