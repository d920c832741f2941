/**
 * Reads the runs of this conversation from the state of a project: which are in progress, which ended and with what report.
 */
import { readFileSync } from "node:fs"
import { join, resolve } from "node:path"

import { parseObject } from "@meridian/protocol"

import type { Fact } from "../domain/fact.ts"
import { taskIn } from "../domain/ledger/task.ts"
import {
  chooseRuns,
  replayRunTable,
  runFacts,
  type RunRow,
  type RunsWanted,
  type ToldRun,
} from "../domain/run-table/run-table.ts"
import { openGuardedReader, type GuardedReader } from "./guarded-reader.ts"
import { openReadBudget } from "./read-budget.ts"

export interface RunQuery extends RunsWanted {
  /** `MERIDIAN_STATE_ROOT`. A relative path starts at the project's root. */
  readonly stateRoot: string | undefined
  readonly projectRoot: string
  readonly timeMs?: number
}

const LIMITS = {
  fileBytes: 2 * 1024 * 1024,
  totalBytes: 8 * 1024 * 1024,
  lineLength: 64 * 1024,
  timeMs: 60,
} as const
const MOST_SPACES = 64
const MOST_RUNS = 12

/** Never throws; empty when no run was started. */
export const readRunFacts = (query: RunQuery): readonly Fact[] => {
  if (query.seen.length === 0 && query.chatId === undefined) return []
  const budget = openReadBudget({
    limits: { ...LIMITS, timeMs: Math.min(LIMITS.timeMs, query.timeMs ?? LIMITS.timeMs) },
  })
  const root = resolve(query.projectRoot, query.stateRoot || ".meridian")
  const reader = openGuardedReader(join(root, ".spaces"), budget)
  const rows = spacesIn(reader).flatMap((space) => rowsOf(reader, space))
  const chosen = chooseRuns(rows, query).slice(-MOST_RUNS)
  return runFacts(
    chosen.map((row) => tell(reader, row)),
    query.seen,
  )
}

const tell = (reader: GuardedReader, row: RunRow): ToldRun => ({
  ...row,
  asked: row.task ?? firstLine(taskIn(textOf(reader, row, "prompt.md"))),
  report: row.isEnded ? firstLine(textOf(reader, row, "report.md")) : undefined,
  isOrphan: !row.isEnded && row.worker !== undefined && !isAlive(row.worker),
})

const spacesIn = (reader: GuardedReader): readonly string[] => {
  const listing = reader.list(".")
  if (listing.kind !== "entries") return []
  return listing.entries
    .filter(({ name, type }) => type === "folder" && /^s[0-9]{1,9}$/.test(name))
    .map(({ name }) => name)
    .slice(-MOST_SPACES)
}

const rowsOf = (reader: GuardedReader, space: string): readonly RunRow[] => {
  const log = reader.read(`${space}/runs.jsonl`, { part: "tail" })
  if (log.kind !== "text") return []
  return replayRunTable(
    space,
    log.text.split("\n").flatMap((line) => parseObject(line) ?? []),
  )
}

const textOf = (reader: GuardedReader, { space, id }: RunRow, file: string): string => {
  const found = /^r[0-9]{1,9}$/.test(id)
    ? reader.read(`${space}/runs/${id}/${file}`, { maxBytes: 256 * 1024 })
    : undefined
  return found?.kind === "text" ? found.text : ""
}

/** The first line with content. A heading only names the text, so it is a last resort. */
const firstLine = (text: string | undefined): string | undefined => {
  const lines = (text ?? "").split("\n").map((line) => line.trim())
  return lines.find((line) => line !== "" && !line.startsWith("#")) ?? lines.find((line) => line !== "")
}

/** By pid and start time on Linux, as spaces records its workers; elsewhere by the pid alone. */
const isAlive = ({ pid, started }: { readonly pid: number; readonly started: string }): boolean => {
  if (process.platform === "linux")
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      return fields[0] !== "Z" && fields[0] !== "X" && fields[19] === started
    } catch {
      return false
    }
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
