/** Finds what a conversation was launched with, and reads the texts of its agent and skills. */
import { basename, dirname, isAbsolute, join, resolve } from "node:path"

import { findLaunchRecord, type LaunchRecord } from "../domain/launch-record/launch-record.ts"
import { renderLaunch, type LaunchText } from "../domain/launch-record/render-launch.ts"
import { openGuardedReader } from "./guarded-reader.ts"
import { openReadBudget, type ReadBudget } from "./read-budget.ts"

export interface LaunchQuery {
  /** `MERIDIAN_STATE_ROOT`. A relative path starts at the project's root. */
  readonly stateRoot: string | undefined
  /** `MERIDIAN_SPACE_ID`. */
  readonly spaceId: string | undefined
  readonly projectRoot: string
  readonly harnessSessionId: string
  readonly maxTokens?: number
  readonly timeMs?: number
}

const LIMITS = {
  fileBytes: 2 * 1024 * 1024,
  totalBytes: 4 * 1024 * 1024,
  lineLength: 256 * 1024,
  timeMs: 80,
} as const
const TEXT_BYTES = 64 * 1024
const SPACE_ID = /^[A-Za-z0-9][\w.-]{0,63}$/

export interface Launch {
  readonly record: LaunchRecord
  /** The readable texts of its agent and skills. */
  readonly texts: readonly LaunchText[]
  /** The same texts as one block. */
  readonly text: string
  /** The work of earlier agents, when this one took over from them. */
  readonly handover: { readonly path: string; readonly text: string } | undefined
}

/** Undefined without the variables, the file or a match. Never throws. */
export const readLaunch = (query: LaunchQuery): Launch | undefined => {
  const { stateRoot, spaceId } = query
  if (stateRoot === undefined || stateRoot === "" || spaceId === undefined || !SPACE_ID.test(spaceId))
    return undefined
  const budget = openReadBudget({
    limits: { ...LIMITS, timeMs: Math.min(LIMITS.timeMs, query.timeMs ?? LIMITS.timeMs) },
  })
  const space = join(resolve(query.projectRoot, stateRoot), ".spaces", spaceId)
  const file = openGuardedReader(space, budget).read("sessions.jsonl", { part: "tail" })
  if (file.kind !== "text") return undefined
  const record = findLaunchRecord(eventsOf(file.text), query.harnessSessionId)
  if (record === undefined) return undefined
  const texts = readTexts(record, budget)
  const handover = readHandover(space, record, budget)
  return { record, texts, text: renderLaunch(texts, query.maxTokens), handover }
}

const RUN_ID = /^r\d{1,9}$/
const HANDOVER = /^handover\.attempt-(\d{1,9})\.md$/

/** The newest handover, which covers everything before it. */
const readHandover = (space: string, { runId }: LaunchRecord, budget: ReadBudget): Launch["handover"] => {
  if (runId === undefined || !RUN_ID.test(runId)) return undefined
  const folder = join(space, "runs", runId)
  const reader = openGuardedReader(folder, budget)
  const listed = reader.list(".")
  if (listed.kind !== "entries") return undefined
  const [newest] = listed.entries
    .flatMap(({ name }) => {
      const attempt = HANDOVER.exec(name)?.[1]
      return attempt === undefined ? [] : [{ name, attempt: Number(attempt) }]
    })
    .toSorted((left, right) => right.attempt - left.attempt)
  const file = newest === undefined ? undefined : reader.read(newest.name, { maxBytes: TEXT_BYTES })
  return newest === undefined || file?.kind !== "text"
    ? undefined
    : { path: join(folder, newest.name), text: file.text }
}

function* eventsOf(text: string): Generator {
  for (const line of text.split("\n")) {
    // Most lines of a long file are irrelevant, and searching for the names is cheaper than parsing the JSON.
    if (!line.includes(`"start"`) && !line.includes(`"update"`)) continue
    try {
      // oxlint-disable-next-line no-restricted-properties -- the decoder behind it takes unknown values
      yield JSON.parse(line)
    } catch {
      // A torn or foreign line is not an event.
    }
  }
}

const readTexts = (record: LaunchRecord, budget: ReadBudget): readonly LaunchText[] => {
  const agent = record.agentPath === undefined ? [] : [{ kind: "agent" as const, path: record.agentPath }]
  const skills = record.skillPaths.map((path) => ({ kind: "skill" as const, path }))
  return [...agent, ...skills].flatMap(({ kind, path }) => {
    // The record names what Meridian loaded: absolute paths of markdown files. Anything else is not a launch text.
    if (!isAbsolute(path) || !path.endsWith(".md")) return []
    const file = openGuardedReader(dirname(path), budget).read(basename(path), { maxBytes: TEXT_BYTES })
    return file.kind === "text" ? [{ kind, name: nameOf(path), path, text: file.text }] : []
  })
}

/** `.../skills/orchestrate/SKILL.md` is "orchestrate", `.../agents/coder.md` is "coder". */
const nameOf = (path: string): string =>
  basename(path) === "SKILL.md" ? basename(dirname(path)) : basename(path, ".md")
