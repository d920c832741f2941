/**
 * What a session log says now. The newest entry counts, together with everything outside the entries. An older entry is
 * history: only its decisions count, which hold until withdrawn, not its open work or its blockers.
 */
import { type Line, readLines } from "../markdown/line.ts"
import { saysNothing } from "./absence.ts"
import { approvalOf } from "./approval.ts"
import { collectFields } from "./collect-fields.ts"
import { type CutLog, cutEntries, newestFirst, type Part } from "./entry.ts"

export interface SessionState {
  readonly focus: string | undefined
  readonly objective: string | undefined
  readonly stage: string | undefined
  readonly nextActions: readonly string[]
  readonly openWork: readonly string[]
  readonly pendingTests: readonly string[]
  readonly completed: readonly string[]
  /** Oldest first. */
  readonly decisions: readonly string[]
  readonly blockers: readonly string[]
  readonly openQuestions: readonly string[]
  /** Approvals given, as the current entry states them. */
  readonly approvals: readonly string[]
  /** Approvals requested but not given. */
  readonly awaited: readonly string[]
  /** All lines, newest scope first: the current one, then entry by entry. Used to find names of stages and folders. */
  readonly scopes: readonly (readonly string[])[]
}

export const readSessionState = (text: string): SessionState => readLinesState(readLines(text))

export const readLinesState = (lines: readonly Line[]): SessionState => readLog(cutEntries(lines))

/**
 * AGENTS.md contains instructions, not a log. Only text in the form of a log (entries, a brief for the next operator) says
 * what the session is about. Any of its lines may still name a stage.
 */
export const readInstructions = (text: string): SessionState => {
  const { entries, parts } = cutEntries(readLines(text))
  const log = parts.filter(({ role, owner }) => owner !== -1 || role === "brief")
  const lines = parts.flatMap((part) => part.lines.map((line) => line.text))
  return { ...readLog({ entries, parts: log }), scopes: [lines] }
}

/** The log's values, with those of the instructions where the log has none. */
export const withFallback = (session: SessionState, instructions: SessionState): SessionState => ({
  ...session,
  focus: session.focus ?? instructions.focus,
  objective: session.objective ?? instructions.objective,
  nextActions: firstFilled(session.nextActions, instructions.nextActions),
  openWork: firstFilled(session.openWork, instructions.openWork),
  pendingTests: firstFilled(session.pendingTests, instructions.pendingTests),
  completed: firstFilled(session.completed, instructions.completed),
  decisions: firstFilled(session.decisions, instructions.decisions),
  blockers: firstFilled(session.blockers, instructions.blockers),
})

const firstFilled = (first: readonly string[], second: readonly string[]): readonly string[] =>
  first.length > 0 ? first : second

const readLog = (log: CutLog): SessionState => {
  const [newest = -1, ...order] = newestFirst(log.entries)
  const { general, own, brief } = currentParts(log, newest)
  // The brief for the next operator comes first, unless it is under an older entry.
  const isOlder = brief.some(({ owner }) => owner !== newest && owner !== -1)
  const found = collectFields(isOlder ? [...own, ...brief, ...general] : [...brief, ...own, ...general])
  const lines = found.linesOf([...general, ...own, ...brief])
  const older = collectOlder(log, order)
  return {
    focus: focusOf(log, newest) ?? found.of("focus")[0],
    objective: found.of("objective")[0],
    stage: found.of("stage")[0],
    nextActions: found.of("next-action"),
    openWork: found.of("open-work"),
    pendingTests: found.of("pending-tests"),
    completed: found.of("completed"),
    decisions: [
      ...new Set([...older.toReversed().flatMap(({ decisions }) => decisions), ...found.of("decisions")]),
    ],
    blockers: found.of("blockers"),
    openQuestions: found.of("open-questions"),
    approvals: lines.filter((line) => approvalOf(line) === "given"),
    awaited: lines.filter((line) => approvalOf(line) === "awaited"),
    scopes: [[log.entries[newest]?.header ?? ""].concat(lines), ...older.map((entry) => entry.lines)],
  }
}

/** The current parts: of the whole log, of the newest entry, and the brief for the next operator. */
const currentParts = (
  { parts }: CutLog,
  newest: number,
): Readonly<Record<"general" | "own" | "brief", readonly Part[]>> => {
  const briefs = parts.filter(({ role }) => role === "brief")
  const near = briefs.find(({ owner }) => owner === newest) ?? briefs.find(({ owner }) => owner === -1)
  const others = parts.filter(({ role }) => role !== "brief")
  return {
    general: others.filter(({ owner }) => owner === -1),
    own: others.filter(({ owner }) => owner === newest && newest !== -1),
    brief: near === undefined ? briefs.slice(0, 1) : [near],
  }
}

const focusOf = ({ entries }: CutLog, newest: number): string | undefined => {
  const focus = entries[newest]?.focus
  return focus === undefined || saysNothing(focus) ? undefined : focus
}

interface OlderEntry {
  readonly decisions: readonly string[]
  readonly lines: readonly string[]
}

/** How many entries after the newest are read. */
const MAX_OLDER_ENTRIES = 200

const collectOlder = ({ entries, parts }: CutLog, order: readonly number[]): readonly OlderEntry[] => {
  const byOwner = Map.groupBy(parts, ({ owner }) => owner)
  return order.slice(0, MAX_OLDER_ENTRIES).map((index) => {
    const own = byOwner.get(index) ?? []
    const found = collectFields(own)
    const lines = [entries[index]?.header ?? ""].concat(found.linesOf(own))
    return { decisions: found.of("decisions"), lines }
  })
}
