/** What the model saw before and after a compaction, from the rows of the timeline. */
import type { CompactionRow, NoticeRow, Row } from "./row.ts"

export interface Seen {
  readonly key: string
  readonly role: "instructions" | "summary" | "recent" | "user" | "assistant" | "tool" | "context"
  readonly text: string
  /** Whether it remains a separate message after the compaction. */
  readonly stays: boolean
}

export interface CompactionView {
  readonly before: readonly Seen[]
  readonly after: readonly Seen[]
  /** How many older ones are not listed. */
  readonly hiddenBefore: number
  readonly hiddenAfter: number
}

/** On each side. A dialog of ten thousand rows helps nobody. */
export const MOST_SEEN = 300
const MOST_TEXT = 600

export const compactionView = (rows: readonly Row[], compaction: CompactionRow): CompactionView => {
  const place = rows.findIndex((row) => row.key === compaction.key)
  const earlier = rows.slice(0, place === -1 ? rows.length : place)
  const previous = checkpointBefore(earlier)
  const { end } = compaction
  const kept = new Set(end?.kept)
  const stays = (row: Row): boolean =>
    end === undefined || row.seq > end.range.through || ("messageID" in row && kept.has(row.messageID))
  const was = new Set(previous?.end?.kept)
  const visible = earlier.filter(
    (row) =>
      previous?.end === undefined ||
      row.seq > previous.end.range.through ||
      ("messageID" in row && was.has(row.messageID)),
  )
  const real = (list: readonly Row[]): readonly Seen[] => list.flatMap((row) => seenOf(row, stays(row)))
  const told = baselineOf(earlier.findLast(isBaseline))
  // A compaction begins a new epoch. Its instructions contain what must survive.
  const later = rows.slice(place + 1)
  const turn = later.findIndex((row) => row.kind === "turn")
  const renewed = later.slice(0, turn === -1 ? later.length : turn).find(isBaseline)
  const before = [...told, ...checkpoint(previous), ...real(visible)]
  const after = [
    ...(renewed === undefined ? told : baselineOf(renewed)),
    ...checkpoint(compaction),
    ...real(earlier.filter(stays)),
  ]
  return {
    before: newest(before, MOST_SEEN),
    after: newest(end === undefined ? before : after, MOST_SEEN),
    hiddenBefore: Math.max(0, before.length - MOST_SEEN),
    hiddenAfter: Math.max(0, (end === undefined ? before : after).length - MOST_SEEN),
  }
}

/** Facts that appear word for word in what the model sees. */
export const survivors = <Fact extends { readonly text: string }>(
  facts: readonly Fact[],
  seen: readonly Seen[],
): ReadonlySet<Fact> => new Set(facts.filter((fact) => seen.some((item) => item.text.includes(fact.text))))

/** The checkpoint in force at the end of these rows: the last one, unless an older one was restored since. */
const checkpointBefore = (rows: readonly Row[]): CompactionRow | undefined => {
  const last = rows.findLast(
    (row) => row.kind === "compaction" || (row.kind === "notice" && row.restores !== undefined),
  )
  if (last?.kind === "notice")
    return rows.find(
      (row): row is CompactionRow => row.kind === "compaction" && row.compactionID === last.restores,
    )
  return rows.findLast((row): row is CompactionRow => row.kind === "compaction" && row.status === "ended")
}

const checkpoint = (row: CompactionRow | undefined): readonly Seen[] => {
  if (row?.end === undefined) return []
  const { summary, recent } = row.end
  return [
    { key: `${row.key}/summary`, role: "summary", text: summary, stays: true },
    ...(recent === ""
      ? []
      : [{ key: `${row.key}/recent`, role: "recent", text: recent, stays: true } as const]),
  ]
}

const isBaseline = (row: Row): row is NoticeRow => row.kind === "notice" && row.isBaseline === true

const baselineOf = (row: NoticeRow | undefined): readonly Seen[] =>
  row?.detail === undefined
    ? []
    : [{ key: row.key, role: "instructions", text: row.detail.text, stays: true }]

/** Instructions and checkpoint stay at the top of the list, whatever is left out after them. */
const newest = (seen: readonly Seen[], most: number): readonly Seen[] => {
  const head = seen.filter(({ role }) => role === "instructions" || role === "summary" || role === "recent")
  const rest = seen.slice(head.length)
  return [...head, ...rest.slice(-Math.max(0, most - head.length))]
}

const seenOf = (row: Row, stays: boolean): readonly Seen[] => {
  const seen = (role: Seen["role"], text: string): readonly Seen[] => [
    { key: row.key, role, text: text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)} …` : text, stays },
  ]
  switch (row.kind) {
    case "user":
      return seen("user", row.body.text)
    case "text":
    case "reasoning":
      return row.live ? [] : seen("assistant", row.body.text)
    case "tool":
      return seen("tool", `${row.tool} ${row.summary}\n${row.output?.text ?? row.error?.message ?? ""}`)
    case "notice":
      return row.what === "context" && row.detail !== undefined ? seen("context", row.detail.text) : []
    case "turn":
    case "compaction":
      return []
  }
}
