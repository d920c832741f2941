/** The figures as one table, and its place in docs/measured.md. */
import type { Figures, Size } from "./measure.ts"

export interface Row extends Figures {
  readonly title: string
}

export interface Occasion {
  readonly node: string
  /** The day of the run. */
  readonly date: string
  /** Load averages before and after the run. */
  readonly loads: readonly [before: number, after: number]
  readonly size: Size
}

/** Every ratio is to the first row, in the same run. */
export const renderTable = (rows: readonly Row[], { growth }: Size): string => {
  const [floor] = rows
  const overhead = (value: number, base = value) => `${value.toFixed(1)} ms (${(value / base).toFixed(1)}x)`
  const rate = (value: number, base = value) => `${value.toFixed(0)} (${(value / base).toFixed(2)}x)`
  const cells = rows.map(({ title, text, tool, grown, many, kills }) => [
    title,
    overhead(text, floor?.text),
    overhead(tool, floor?.tool),
    overhead(grown, floor?.grown),
    rate(many, floor?.many),
    ...[kills?.lost, kills?.twice, kills?.untold].map((count) => String(count ?? "-")),
  ])
  return [
    `| program | text turn | tool turn | turn ${growth} | 64 sessions, turns/s | prompt lost | tool run twice | tool start not told |`,
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ...cells.map((row) => `| ${row.join(" | ")} |`),
  ].join("\n")
}

const START = "<!-- peers:start -->"
const END = "<!-- peers:end -->"

/** Replaces the text between the marks. Throws when there are none: the table must not vanish silently. */
export const putIntoPage = (page: string, table: string, occasion: Occasion): string => {
  const start = page.indexOf(START)
  const end = page.indexOf(END)
  if (start === -1 || end < start) throw new Error(`No ${START} and ${END} to put the table between.`)
  return `${page.slice(0, start + START.length)}\n\n${table}\n\n${foot(occasion)}\n\n${page.slice(end)}`
}

const foot = ({ node, date, loads, size }: Occasion): string =>
  `Medians of ${size.turns} turns after ${size.warmUp} of warm-up; a turn's overhead is its time less the provider's. ` +
  `Node ${node}, ${date}, load average ${loads.map((load) => load.toFixed(1)).join(" before and ")} after the run. ` +
  `The last three columns count ${size.kills} SIGKILLs spread over a turn whose tool takes 60 ms, each followed by a restart ` +
  `and one request to go on. A prompt is lost when the next model call does not contain it; nobody had acknowledged it yet ` +
  `when the kill came in the first milliseconds. A start is not told when the tool had started and that call says nothing of it.`
