/**
 * A session log, cut into entries and the parts around them.
 *
 *     [Focus: refactor-auth] 2026-04-01 — Branch `work/auth`     an entry; also "## 2026-04-01 …"
 *     - finished thing
 *     Reality Check — …                                          ends the list of the entry but still belongs to it
 *     Next Operator Brief                                        what the next operator should do, as fields
 *     - Open Work: …
 *     ## Decisions                                               a section of the whole log, as its level is not deeper
 *
 * The dates determine the newest entry, and without dates its place: a log is written newest first unless its dates run the
 * other way.
 */
import type { Line } from "../markdown/line.ts"
import { type Field, readLabelAlone } from "./label.ts"

export interface Part {
  readonly role: "entry" | "brief" | "section" | "aside"
  /** The index of its entry; -1 for a part of the whole log. */
  readonly owner: number
  /** Set for a section whose heading is a label. */
  readonly field?: Field
  readonly lines: Line[]
}

export interface Entry {
  focus: string | undefined
  /** A sortable text; undefined when the header has no date. */
  date: string | undefined
  /** The text of its header line. */
  header: string
  /** The level of its heading; 0 for a plain line. */
  readonly level: number
}

export interface CutLog {
  readonly entries: readonly Entry[]
  readonly parts: readonly Part[]
}

export const cutEntries = (lines: readonly Line[]): CutLog => {
  const entries: Entry[] = []
  const parts: Part[] = []
  let owner = -1
  const begin = (part: Omit<Part, "lines">): void => {
    parts.push({ ...part, lines: [] })
  }
  begin({ role: "aside", owner })
  for (const [index, line] of lines.entries()) {
    const field = line.kind === "heading" ? readLabelAlone(line.text)?.field : undefined
    const isBrief = isTitled(line, "next operator brief")
    const endsList = line.kind === "rule" || isTitled(line, "reality check")
    const header = isBrief || endsList || field !== undefined ? undefined : readHeader(line, lines[index + 1])
    if (header !== undefined) {
      const last = entries.at(-1)
      const open = parts.at(-1)
      if (
        header.focus !== undefined &&
        last?.focus === undefined &&
        open?.role === "entry" &&
        isEmpty(open)
      ) {
        // "## 2026-04-01" and the focus on the next line are one header.
        if (last !== undefined) joinHeaders(last, header)
        continue
      }
      entries.push(header)
      owner = entries.length - 1
      begin({ role: "entry", owner })
    } else if (isBrief) begin({ role: "brief", owner })
    else if (endsList) begin({ role: "aside", owner })
    else if (line.kind === "heading") {
      const inside = owner !== -1 && line.level > (entries[owner]?.level || 2)
      if (!inside) owner = -1
      begin(field === undefined ? { role: "aside", owner } : { role: "section", owner, field })
    } else parts.at(-1)?.lines.push(line)
  }
  return { entries, parts }
}

const joinHeaders = (entry: Entry, below: Entry): void => {
  entry.focus = below.focus
  entry.date ??= below.date
  entry.header = `${entry.header} ${below.header}`
}

/** Indexes of the entries, newest first. */
export const newestFirst = (entries: readonly Entry[]): readonly number[] => {
  const dated = entries.flatMap(({ date }) => date ?? [])
  const first = dated[0]
  const last = dated.at(-1)
  const ascending = first !== undefined && last !== undefined && first < last
  // From old to new in the file, so that an undated entry takes the date of its older neighbour and wins the tie.
  const oldToNew = ascending ? [...entries.keys()] : [...entries.keys()].toReversed()
  let date = ""
  const timed = oldToNew.map((index, place) => {
    date = entries[index]?.date ?? date
    return { index, date, place }
  })
  return timed
    .toSorted((left, right) => compare(right.date, left.date) || right.place - left.place)
    .map(({ index }) => index)
}

const compare = (left: string, right: string): number => {
  if (left === right) return 0
  return left < right ? -1 : 1
}

const readHeader = (line: Line, next: Line | undefined): Entry | undefined => {
  if (line.kind === "blank" || line.kind === "rule") return undefined
  const at = line.text.search(/\[focus:/i)
  if (at !== -1 && at <= 60 && /^[\d\s:#*_.,TZ()/–—-]*$/.test(line.text.slice(0, at))) {
    const rest = line.text.slice(at + "[focus:".length)
    const end = rest.indexOf("]")
    const focus = end === -1 ? `${rest} ${(next?.text ?? "").split("]", 1)[0] ?? ""}` : rest.slice(0, end)
    const beside = end === -1 ? "" : rest.slice(end + 1)
    return {
      focus: focus.trim(),
      date: dateOf(line.text.slice(0, at)) ?? dateOf(beside),
      header: `${focus.trim()}${beside}`,
      level: line.level,
    }
  }
  const date = line.kind === "heading" && line.level > 1 ? dateOf(line.text) : undefined
  return date === undefined ? undefined : { focus: undefined, date, header: line.text, level: line.level }
}

/** `2026-04-01`, `2026/4/1 17:30`, `April 1, 2026`, `1 Apr 2026`, as sortable text. */
const dateOf = (text: string): string | undefined => {
  const numbers = /\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})\b/.exec(text)
  const named =
    /\b(?<month>[a-z]{3,9})\.? (?<day>\d{1,2})(?:st|nd|rd|th)?,? (?<year>\d{4})\b/i.exec(text) ??
    /\b(?<day>\d{1,2})\.? (?<month>[a-z]{3,9})\.?,? (?<year>\d{4})\b/i.exec(text)
  const month = 1 + MONTHS.indexOf((named?.groups?.["month"] ?? "").slice(0, 3).toLowerCase())
  if (numbers === null && month === 0) return undefined
  const [year, monthOfYear, day] =
    numbers === null ? [named?.groups?.["year"], month, named?.groups?.["day"]] : numbers.slice(1)
  const time = /\b(\d{1,2}):(\d{2})(?::(\d{2}))?\b/.exec(text)
  const clock = time === null ? "" : [time[1], time[2], time[3] ?? 0].map(twoDigits).join(":")
  return `${year}-${twoDigits(monthOfYear)}-${twoDigits(day)}T${clock}`
}

const MONTHS: readonly string[] = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ")

const twoDigits = (number: string | number | undefined): string => String(number ?? 0).padStart(2, "0")

/** A heading, a bold line or a plain line that begins with this title. */
const isTitled = (line: Line, title: string): boolean =>
  line.kind !== "bullet" &&
  line.text
    .slice(0, title.length + 4)
    .replace(/[*_]/g, "")
    .toLowerCase()
    .startsWith(title)

const isEmpty = (part: Part): boolean => part.lines.every(({ kind }) => kind === "blank")
