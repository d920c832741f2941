/**
 * What a session log says now. The newest entry decides, together with what stands outside of all entries; an older
 * entry is history: its open work and its blockers are not taken, only its decisions, which hold until taken back.
 */
import { type Item, readItems } from "../markdown/item.ts"
import { type Line, readLines } from "../markdown/line.ts"
import { isTakenBack, saysNothing, speaksOfBlock } from "./absence.ts"
import { approvalOf, speaksOfDecision } from "./approval.ts"
import { type CutLog, cutEntries, newestFirst, type Part } from "./entry.ts"
import { type Field, type Labelled, readLabel, readLabelAlone } from "./label.ts"

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
  /** Given, as said in the current entry. */
  readonly approvals: readonly string[]
  /** Asked for and not given. */
  readonly awaited: readonly string[]
  /** All lines, newest scope first: what is current, then entry by entry. For names of stages and folders. */
  readonly scopes: readonly (readonly string[])[]
}

export const readSessionState = (text: string): SessionState => readLinesState(readLines(text))

export const readLinesState = (lines: readonly Line[]): SessionState => readLog(cutEntries(lines))

/**
 * AGENTS.md: instructions, not a log. Only what is written in the form of a log (entries, a brief for the next operator)
 * says what the session is about; all of its lines may still name a stage.
 */
export const readInstructions = (text: string): SessionState => {
  const { entries, parts } = cutEntries(readLines(text))
  const log = parts.filter(({ role, owner }) => owner !== -1 || role === "brief")
  return { ...readLog({ entries, parts: log }), scopes: [linesOf(parts)] }
}

/** What the log says; where it says nothing of a kind, what the instructions say. */
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
  const found = collect(currentParts(log, newest))
  const older = collectOlder(log, order)
  return {
    focus: focusOf(log, newest) ?? found.of("focus")[0],
    objective: found.of("objective")[0],
    stage: found.of("stage")[0],
    nextActions: found.of("next-action"),
    openWork: found.of("open-work"),
    pendingTests: found.of("pending-tests"),
    completed: found.of("completed"),
    decisions: unique([...older.toReversed(), found].flatMap(({ of }) => of("decisions"))),
    blockers: found.of("blockers"),
    openQuestions: found.of("open-questions"),
    approvals: found.lines.filter((line) => approvalOf(line) === "given"),
    awaited: found.lines.filter((line) => approvalOf(line) === "awaited"),
    scopes: [[log.entries[newest]?.header ?? "", ...found.lines], ...older.map(({ lines }) => lines)],
  }
}

/** Entries after the newest that are looked at. */
const MAX_OLDER_ENTRIES = 200

const collectOlder = ({ entries, parts }: CutLog, order: readonly number[]): readonly Collected[] => {
  const byOwner = Map.groupBy(parts, ({ owner }) => owner)
  return order.slice(0, MAX_OLDER_ENTRIES).map((index) => {
    const { of, lines } = collect(byOwner.get(index) ?? [])
    return { of, lines: [entries[index]?.header ?? ""].concat(lines) }
  })
}

/** What belongs to no entry, then the newest entry, then the brief for the next operator: from general to specific. */
const currentParts = ({ parts }: CutLog, newest: number): readonly Part[] => {
  const briefs = parts.filter(({ role }) => role === "brief")
  const brief =
    briefs.length === 1
      ? briefs[0]
      : (briefs.find(({ owner }) => owner === newest) ??
        briefs.find(({ owner }) => owner === -1) ??
        briefs[0])
  const own = parts.filter(({ role, owner }) => role !== "brief" && owner === newest && newest !== -1)
  const general = parts.filter(({ role, owner }) => role !== "brief" && owner === -1)
  return [...general, ...own, ...(brief === undefined ? [] : [brief])]
}

const focusOf = ({ entries }: CutLog, newest: number): string | undefined => {
  const focus = entries[newest]?.focus
  return focus === undefined || saysNothing(focus) ? undefined : focus
}

interface Collected {
  readonly of: (field: Field) => readonly string[]
  readonly lines: readonly string[]
}

const collect = (parts: readonly Part[]): Collected => {
  const values = new Map<Field, string[]>()
  const lines: string[] = []
  const add = (field: Field, value: string): void => {
    if (saysNothing(value) || isTakenBack(value)) return
    const known = values.get(field)
    if (known === undefined) values.set(field, [value])
    else known.push(value)
  }
  for (const part of parts) {
    const items = readItems(part.lines, startsField)
    for (const { text } of items) lines.push(text)
    for (let index = 0; index < items.length; index += 1) {
      const item = items[index]
      if (item === undefined) continue
      const labelled = labelOf(item.text)
      if (labelled === undefined) addPlain(part, item, add)
      else {
        const children = childrenOf(items, index, labelled)
        addLabelled(labelled, children, add)
        index += children.length
      }
    }
  }
  return { of: (field) => unique(values.get(field) ?? []), lines }
}

const linesOf = (parts: readonly Part[]): readonly string[] =>
  parts.flatMap(({ lines }) => lines.map(({ text }) => text))

type Add = (field: Field, value: string) => void

const labelOf = (text: string): Labelled | undefined =>
  readLabel(text) ?? (text.startsWith("**") || text.startsWith("__") ? readLabelAlone(text) : undefined)

/** A known label always does; any other one when it is bold or not indented under what stands before it. */
const startsField = (line: Line, head: Line): boolean =>
  labelOf(line.text) !== undefined ||
  /^(?:\*\*|__)[^*_:]{1,40}(?::(?:\*\*|__)|(?:\*\*|__):)/.test(line.text) ||
  (line.indent <= head.indent && /^[A-Z][\w /-]{0,30}:(?:\s|$)/.test(line.text))

/** Bullets deeper than a labelled bullet; all bullets that follow a label standing on a line of its own. */
const childrenOf = (items: readonly Item[], at: number, { value }: Labelled): readonly Item[] => {
  const head = items[at]
  const children: Item[] = []
  for (let index = at + 1; index < items.length; index += 1) {
    const item = items[index]
    if (item === undefined || head === undefined || !item.bullet || labelOf(item.text) !== undefined) break
    if (head.bullet ? item.indent <= head.indent : value !== "") break
    children.push(item)
  }
  return children
}

const addLabelled = ({ field, label, value }: Labelled, children: readonly Item[], add: Add): void => {
  const holds = !saysNothing(value) && !isTakenBack(value)
  if (field === "decisions") {
    const reasons = children.map(({ text }) => text)
    if (value === "") for (const reason of reasons) add(field, reason)
    else if (holds) add(field, `${label}: ${[value, ...reasons].join("; ")}`)
    return
  }
  // A blocker keeps its label: that is how it was written, and how the brief shows it.
  if (field !== "blockers") add(field, value)
  else if (holds && !isResolved(value)) add(field, `${label}: ${value}`)
  for (const child of children) addTo(field, child, add)
}

const addPlain = (part: Part, item: Item, add: Add): void => {
  if (part.field !== undefined) return addTo(part.field, item, add)
  if (speaksOfBlock(item.text)) add("blockers", item.text)
  if (!item.bullet) return
  if (speaksOfDecision(item.text)) add("decisions", item.text)
  if (item.box !== undefined) return addTo("open-work", item, add)
  if (part.role === "entry") add("completed", item.text)
  if (part.role === "brief") add("open-work", item.text)
}

/** A checked box is done wherever it stands. */
const addTo = (field: Field, item: Item, add: Add): void => {
  const done = item.box !== undefined && "xX✓✔".includes(item.box)
  if (field === "blockers" && (done || isResolved(item.text))) return
  add(done && (field === "open-work" || field === "next-action") ? "completed" : field, item.text)
}

const isResolved = (text: string): boolean =>
  /^(?:un-?blocked|not blocked|no longer|resolved|cleared|fixed)\b/i.test(text) ||
  /[([](?:resolved|cleared|fixed|unblocked|done)\b[^)\]]{0,60}[)\]]\.?$/i.test(text.slice(-80))

const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)]
