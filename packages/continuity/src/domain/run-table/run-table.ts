/**
 * The run table of a space, limited to what a brief needs. `runs.jsonl` holds events, one JSON object per line: `start`
 * describes a run, `update` adds what became known, `finalize` says how it ended. Spaces owns that format; this code reads
 * it inside a host, where spaces cannot be asked. Unknown lines are ignored.
 */
import { asObject, numberAt, textAt, wordAt, type JsonObject } from "@meridian/protocol"

import type { Fact } from "../fact.ts"
import type { SeenRun } from "../ledger/ledger-state.ts"
import { sanitizeLine } from "../text/sanitize-line.ts"

export interface RunRow {
  readonly space: string
  readonly id: string
  /** One word: `queued`, `running`, `waiting`, `succeeded`, ... */
  readonly status: string
  readonly isEnded: boolean
  /** What recorded the end: the run itself, or a repair. */
  readonly endedBy: string
  readonly chatId: string | undefined
  readonly task: string | undefined
  readonly harness: string
  readonly startedAt: string
  readonly finishedAt: string | undefined
  /** Why it failed, for people. */
  readonly message: string | undefined
  readonly worker: { readonly pid: number; readonly started: string } | undefined
}

/** Runs in the order they started. */
export const replayRunTable = (space: string, events: Iterable<unknown>): readonly RunRow[] => {
  const rows = new Map<string, RunRow>()
  for (const event of events) {
    const fields = asObject(event)
    const id = textAt(fields, "id")
    if (fields === undefined || id === undefined) continue
    const row = apply(rows.get(id), { space, id, fields })
    if (row !== undefined) rows.set(id, row)
  }
  return [...rows.values()]
}

const apply = (
  known: RunRow | undefined,
  { space, id, fields }: { readonly space: string; readonly id: string; readonly fields: JsonObject },
): RunRow | undefined => {
  const event = wordAt(fields, "event")
  if (event === "start") return known ?? started(space, id, fields)
  if (known === undefined) return undefined
  if (event === "update")
    return known.isEnded ? known : { ...known, status: textAt(fields, "status") ?? known.status }
  const by = wordAt(fields, "by")
  // An end recorded by the run itself wins over one from a repair, and is final.
  if (event !== "finalize" || (known.isEnded && (known.endedBy !== "repair" || by === "repair"))) return known
  return {
    ...known,
    isEnded: true,
    endedBy: by,
    status: textAt(fields, "status") ?? "ended",
    finishedAt: textAt(fields, "finished_at"),
    message: textAt(fields, "message"),
  }
}

const started = (space: string, id: string, fields: JsonObject): RunRow => {
  const pid = numberAt(fields, "worker_pid")
  const mark = textAt(fields, "worker_started")
  return {
    space,
    id,
    status: textAt(fields, "status") ?? "running",
    isEnded: false,
    endedBy: "",
    chatId: textAt(fields, "chat_id"),
    task: textAt(fields, "task"),
    harness: wordAt(fields, "harness"),
    startedAt: wordAt(fields, "started_at"),
    finishedAt: undefined,
    message: undefined,
    worker: pid === undefined || mark === undefined ? undefined : { pid, started: mark },
  }
}

export interface RunsWanted {
  /** Runs that this conversation started. */
  readonly seen: readonly SeenRun[]
  /** The chat of this conversation, when Meridian launched it. */
  readonly chatId: string | undefined
  readonly spaceId: string | undefined
  /** Runs that ended before this time are left out. */
  readonly since: number | undefined
}

/** The runs of this conversation: those in progress, and those that ended recently. */
export const chooseRuns = (rows: readonly RunRow[], wanted: RunsWanted): readonly RunRow[] => {
  const ours = new Set<RunRow>()
  for (const row of rows)
    if (wanted.chatId !== undefined && row.chatId === wanted.chatId && row.space === wanted.spaceId)
      ours.add(row)
  for (const seen of wanted.seen) {
    const row = rows
      .filter(({ id, space }) => id === seen.id && (seen.space === undefined || space === seen.space))
      .toSorted((left, right) => (left.startedAt < right.startedAt ? -1 : 1))
      .at(-1)
    if (row !== undefined) ours.add(row)
  }
  return rows.filter((row) => ours.has(row) && (!row.isEnded || isSince(row, wanted.since)))
}

const isSince = ({ finishedAt }: RunRow, since: number | undefined): boolean =>
  since === undefined || finishedAt === undefined || Date.parse(finishedAt) >= since

export interface ToldRun extends RunRow {
  /** The first lines of its task and of its report. */
  readonly asked: string | undefined
  readonly report: string | undefined
  /** The run has not ended, but its process is gone. */
  readonly isOrphan: boolean
}

export const runFacts = (runs: readonly ToldRun[], seen: readonly SeenRun[]): readonly Fact[] => {
  const told = new Set(runs.map(({ id }) => id))
  const unknown = seen
    .filter(({ id }) => !told.has(id))
    .map(({ id, command }) => ({ id, text: `${id}: state unknown — ${sanitizeLine(command, 120)}` }))
  const known = runs.map((run) => ({ id: run.id, text: describe(run) }))
  return [...unknown, ...known].map(({ id, text }, order) => ({
    kind: "run",
    text,
    source: "run table",
    order,
    key: id,
  }))
}

const describe = (run: ToldRun): string => {
  const asked = run.asked === undefined ? "" : ` — ${sanitizeLine(run.asked, 120)}`
  const harness = run.harness === "" ? "" : ` (${sanitizeLine(run.harness, 20)})`
  const state = run.isOrphan ? `${run.status}, but its worker is gone` : run.status
  const outcome = run.report ?? run.message
  const ended = run.isEnded && outcome !== undefined ? `; it reported: ${sanitizeLine(outcome, 160)}` : ""
  return `${run.id} in ${run.space}: ${sanitizeLine(state, 60)}${asked}${harness}${ended}`
}
