/** Runs of a space: `runs.jsonl`, appended under `runs.lock`; a run lives while `runs/<rN>/run.lock` is held by its worker. */
import { mkdirSync } from "node:fs"

import { Failure, type RunId } from "@meridian/protocol"

import { nextRunId } from "../domain/identifier.ts"
import type { Fields } from "../domain/json-line.ts"
import { LIMIT } from "../domain/limit.ts"
import {
  decodeRunEvent,
  encodeRunEnd,
  encodeRunStart,
  encodeRunUpdate,
  replayRuns,
  type Run,
  type RunEnd,
  type RunStart,
  type RunUpdate,
} from "../domain/run.ts"
import { replaceFile } from "./document.ts"
import { appendEvents, readEvents, readNewestEvents, type OnDamage } from "./journal.ts"
import { acquireLock, withLock, type HeldLock } from "./lock.ts"
import { runPlace, type Place, type SpacePlace } from "./place.ts"
import { directoryNames, findSpace } from "./space-store.ts"

export interface OpenRun {
  readonly id: RunId
  readonly start: RunStart
  readonly lock: HeldLock
}

/** Every run, in the order they started. */
export const readRuns = (space: SpacePlace, onDamage: OnDamage): readonly Run[] =>
  replay(readEvents(space.runsLog, onDamage))

/** The newest runs in the order they started, reading the log only as far back as they reach. */
export const readNewestRuns = (space: SpacePlace, count: number, onDamage: OnDamage): readonly Run[] => {
  let missing = count
  const enough = (fields: Fields): boolean => fields["event"] === "start" && --missing <= 0
  return replay(readNewestEvents(space.runsLog, enough, onDamage))
}

/** One run by its id. */
export const readRun = (space: SpacePlace, id: RunId, onDamage: OnDamage): Run | undefined => {
  const isIts = (fields: Fields): boolean => fields["event"] === "start" && fields["id"] === id
  return replay(readNewestEvents(space.runsLog, isIts, onDamage)).find((run) => run.id === id)
}

/**
 * The id, the directory with its prompt, the lock and the start event, in one critical section: whoever reads the start
 * finds the lock held and the prompt there. A space that was closed meanwhile takes no run.
 */
export const beginRun = (
  place: Place,
  space: SpacePlace,
  options: {
    readonly prompt: string
    readonly params: Readonly<Record<string, unknown>>
    readonly start: (id: RunId, others: readonly Run[]) => RunStart
  },
): Promise<OpenRun> =>
  withLock(space.runsLock, async () => {
    if (findSpace(place, space.id).status === "closed") throw new Failure("SPACE_CLOSED", { space: space.id })
    const events = readEvents(space.runsLog, () => undefined)
    const ids = events.flatMap((fields) => (typeof fields["id"] === "string" ? [fields["id"]] : []))
    const id = nextRunId([...ids, ...directoryNames(space.runs)])
    const files = runPlace(space, id)
    mkdirSync(files.directory, { recursive: true })
    replaceFile(files.prompt, options.prompt)
    replaceFile(files.params, `${JSON.stringify(options.params, undefined, 2)}\n`)
    const lock = await acquireLock(files.lock, { waitMs: LIMIT.livenessWaitMs })
    if (lock === undefined)
      throw new Failure("LOCK_TIMEOUT", { file: files.lock, seconds: LIMIT.livenessWaitMs / 1000 })
    try {
      const start = options.start(id, replay(events))
      appendEvents(space.runsLog, [encodeRunStart(start)])
      return { id, start, lock }
    } catch (error) {
      lock.release({ remove: true })
      throw error
    }
  })

export const updateRun = (space: SpacePlace, id: RunId, update: RunUpdate): Promise<void> =>
  withLock(space.runsLock, () => appendEvents(space.runsLog, [encodeRunUpdate(id, update)]))

/** Decides on what the log says now and appends what comes of it, in one critical section. */
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

/** Records how it ended, then lets the lock go. */
export const endRun = (space: SpacePlace, open: Pick<OpenRun, "id" | "lock">, end: RunEnd): Promise<void> =>
  withLock(space.runsLock, () => {
    appendEvents(space.runsLog, [encodeRunEnd(open.id, end)])
    open.lock.release({ remove: true })
  })

/** An end told by somebody else. Nothing is written when the run has one already. */
export const endRunFromOutside = (space: SpacePlace, id: RunId, end: RunEnd): Promise<boolean> =>
  withLock(space.runsLock, () => {
    const run = readRun(space, id, () => undefined)
    if (run === undefined || run.end !== undefined) return false
    appendEvents(space.runsLog, [encodeRunEnd(id, end)])
    return true
  })

/** When a run of this space last started, without reading the whole log. */
export const lastRunStart = (space: SpacePlace, onDamage: OnDamage): string | undefined =>
  readNewestRuns(space, 1, onDamage).at(-1)?.startedAt

const replay = (events: readonly Fields[]): readonly Run[] =>
  replayRuns(events.flatMap((fields) => decodeRunEvent(fields) ?? []))
