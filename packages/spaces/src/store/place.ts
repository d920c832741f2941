/**
 * The paths of everything under the state root. No other module joins one:
 *
 *   .meridian/.gitignore
 *   .meridian/.spaces/.lock                    held while a space is made
 *   .meridian/.spaces/supervisor.lock          held by the supervisor of runs
 *   .meridian/.spaces/supervisor.version       the record format of the newest Meridian here; an older one does not supervise
 *   .meridian/.spaces/schedules.json           schedules.lock guards it
 *   .meridian/.spaces/<sN>/space.json          space.lock guards it
 *                          runs.jsonl          runs.lock guards it; made by the first spawn
 *                          sessions.jsonl      sessions.lock guards it
 *                          sessions/<cN>.lock  held while the chat lives
 *                          runs/<rN>/          what a run read and wrote; run.lock is held while it lives
 *                          fs/                 the agents' own files, the only part under version control
 */
import { lstatSync, statSync } from "node:fs"
import { isAbsolute, join, resolve } from "node:path"

import { Failure, OFFER_FILE, TAKEN_FILE, type ChatId, type RunId, type SpaceId } from "@meridian/protocol"

import { findProject } from "./find-project.ts"

export interface StatePlace {
  /** The project the state belongs to. A harness starts there. */
  readonly project: string
  /** `.meridian`, or what MERIDIAN_STATE_ROOT names. */
  readonly root: string
  readonly gitignore: string
  readonly spaces: string
  readonly spacesLock: string
}

export interface SpacePlace {
  readonly id: SpaceId
  readonly directory: string
  readonly document: string
  readonly lock: string
  readonly runsLog: string
  readonly runsLock: string
  readonly runs: string
  readonly chatsLog: string
  readonly chatsLock: string
  readonly chats: string
  readonly fs: string
}

export interface RunPlace {
  readonly directory: string
  readonly lock: string
  readonly task: string
  readonly prompt: string
  readonly params: string
  readonly events: string
  readonly report: string
  readonly scratch: string
  readonly inbox: string
  readonly inboxTold: string
  readonly offer: string
  readonly taken: string
  readonly spent: string
  readonly workerLog: string
  readonly setupLog: string
}

type Environment = Readonly<Record<string, string | undefined>>

/** Throws STATE_FOREIGN for another user's state, including that of a parent folder. */
export const openPlace = (env: Environment, cwd: string): StatePlace => {
  const project = findProject(env, cwd)
  const told = env["MERIDIAN_STATE_ROOT"] ?? ""
  const root =
    told === "" ? join(project, ".meridian") : isAbsolute(told) ? resolve(told) : resolve(project, told)
  const spaces = join(root, ".spaces")
  requireOwn([root, spaces], env)
  return { project, root, gitignore: join(root, ".gitignore"), spaces, spacesLock: join(spaces, ".lock") }
}

export const spacePlace = (place: Pick<StatePlace, "spaces">, id: SpaceId): SpacePlace =>
  spacePlaceIn(join(place.spaces, id), id)

/** The same, for a space still being made under another name. */
export const spacePlaceIn = (directory: string, id: SpaceId): SpacePlace => ({
  id,
  directory,
  document: join(directory, "space.json"),
  lock: join(directory, "space.lock"),
  runsLog: join(directory, "runs.jsonl"),
  runsLock: join(directory, "runs.lock"),
  runs: join(directory, "runs"),
  chatsLog: join(directory, "sessions.jsonl"),
  chatsLock: join(directory, "sessions.lock"),
  chats: join(directory, "sessions"),
  fs: join(directory, "fs"),
})

/** Held by the supervisor while it works. */
export const supervisorLock = (place: Pick<StatePlace, "spaces">): string =>
  join(place.spaces, "supervisor.lock")

export const supervisorVersion = (place: Pick<StatePlace, "spaces">): string =>
  join(place.spaces, "supervisor.version")

export const scheduleFile = (place: Pick<StatePlace, "spaces">): string =>
  join(place.spaces, "schedules.json")

export const schedulesLock = (place: Pick<StatePlace, "spaces">): string =>
  join(place.spaces, "schedules.lock")

export const chatLock = (space: SpacePlace, chat: ChatId): string => join(space.chats, `${chat}.lock`)

export const runPlace = (space: SpacePlace, run: RunId): RunPlace => {
  const directory = join(space.runs, run)
  return {
    directory,
    lock: join(directory, "run.lock"),
    task: join(directory, "task.md"),
    prompt: join(directory, "prompt.md"),
    params: join(directory, "params.json"),
    events: join(directory, "events.jsonl"),
    report: join(directory, "report.md"),
    scratch: join(directory, "scratch"),
    inbox: join(directory, "inbox.jsonl"),
    inboxTold: join(directory, "inbox.told"),
    offer: join(directory, OFFER_FILE),
    taken: join(directory, TAKEN_FILE),
    spent: join(directory, "spent.json"),
    workerLog: join(directory, "worker.log"),
    setupLog: join(directory, "setup.log"),
  }
}

/** The first attempt has the plain names. Later ones include their number, so none overwrites another. */
export const attemptLogs = (
  run: RunPlace,
  attempt: number,
): { readonly output: string; readonly stderr: string } => {
  const suffix = attempt === 1 ? "" : `.attempt-${attempt}`
  return {
    output: join(run.directory, `output${suffix}.jsonl`),
    stderr: join(run.directory, `stderr${suffix}.log`),
  }
}

/** The output of a run's checks, one file each. */
export const checkLog = (run: RunPlace, number: number): string => join(run.directory, `check-${number}.log`)

/**
 * What earlier agents had done, as it was told to the harness that took over with this attempt. Continuity reads it
 * too.
 */
export const handoverFile = (run: RunPlace, attempt: number): string =>
  join(run.directory, `handover.attempt-${attempt}.md`)

/** Set by --allow-foreign. A worker and a harness that we start inherit it. */
export const FOREIGN_VARIABLE = "MERIDIAN_ALLOW_FOREIGN"

const ROOT = 0

/**
 * Another user's state could name programs, forge records and hold our locks. Root may use any state, and a user may
 * use state that belongs to root, but both only with the flag.
 */
const requireOwn = (paths: readonly string[], env: Environment): void => {
  const user = process.getuid?.()
  if (user === undefined) return
  for (const path of paths) {
    const owner = ownerOf(path, user)
    const excepted = user === ROOT ? "root" : owner === ROOT ? "a guest of root" : undefined
    if (owner === undefined || (excepted !== undefined && env[FOREIGN_VARIABLE] === "1")) continue
    throw new Failure("STATE_FOREIGN", {
      path,
      owner,
      user,
      ...(excepted === undefined ? {} : { flag: excepted }),
    })
  }
}

/** A foreign owner of the link, or of the file it leads to. */
const ownerOf = (path: string, user: number): number | undefined => {
  try {
    const [link, end] = [lstatSync(path, ABSENT), statSync(path, ABSENT)]
    return [link, end].find((stats) => stats !== undefined && stats.uid !== user)?.uid
  } catch {
    // A file where a folder should be, or a dangling link: the next operation on it reports that.
    return undefined
  }
}

const ABSENT = { throwIfNoEntry: false } as const
