/** The model's words, from their fragments and from the durable texts that follow. A fold: no I/O. */
import { wrapLine } from "./columns.ts"
import { openFlow } from "./flow.ts"
import { openMarkdownRows } from "./markdown-rows.ts"
import type { Style } from "./style.ts"
import { openTextStream } from "./text-stream.ts"

export type Kind = "text" | "reasoning"

export interface Speaking {
  readonly push: (kind: Kind, delta: string, width: number) => readonly string[]
  /** The durable text: shows the part that was not streamed. */
  readonly end: (kind: Kind, whole: string, width: number) => readonly string[]
  /** Other rows come next, so the row being written is finished. */
  readonly pause: () => readonly string[]
  /** Fragments were lost: until the next work begins, only durable texts are shown. */
  readonly miss: () => void
  readonly begin: () => void
  readonly row: () => readonly string[]
}

interface Streamed {
  readonly kind: Kind
  text: string
}

/**
 * Fragments and durable texts arrive on two channels, each in order, but in any order relative to each other. So
 * streamed text is kept until its durable text has come. If a durable text comes before its last fragments, these are
 * counted and not shown again.
 */
export const openSpeaking = (style: Style): Speaking => {
  let markdown = openMarkdownRows(style)
  const flow = openFlow((line, width) =>
    kind === "text" ? markdown.line(line, width) : wrapLine(line, width),
  )
  let stream = openTextStream()
  let streamed: Streamed[] = []
  let kind: Kind = "text"
  let surplus = 0
  let missing = false
  /** For laying out a table that has ended. */
  let lastWidth = 80

  const coloured = (rows: readonly string[]): readonly string[] =>
    kind === "reasoning" ? rows.map(style.dim) : rows

  const pause = (): readonly string[] => {
    const said = [...flow.push(stream.end(), Number.MAX_SAFE_INTEGER), ...flow.end()]
    const rows = coloured(kind === "text" ? [...said, ...markdown.end(lastWidth)] : said)
    stream = openTextStream()
    markdown = openMarkdownRows(style)
    return rows
  }

  const write = (next: Kind, text: string, width: number): readonly string[] => {
    const before = next === kind ? [] : pause()
    kind = next
    lastWidth = width
    return [...before, ...coloured(flow.push(stream.push(text), width))]
  }

  const finish = (next: Kind, text: string, width: number): readonly string[] => {
    if (!missing) surplus += text.length
    return [...write(next, text, width), ...pause()]
  }

  return {
    push: (next, delta, width) => {
      if (missing) return []
      const late = Math.min(surplus, delta.length)
      surplus -= late
      const fresh = delta.slice(late)
      if (fresh === "") return []
      const last = streamed.at(-1)
      if (last?.kind === next) last.text += fresh
      else streamed.push({ kind: next, text: fresh })
      return write(next, fresh, width)
    },
    end: (next, whole, width) => {
      const said = streamed.find((part) => part.kind === next)
      if (said === undefined) return [...pause(), ...finish(next, whole, width)]
      // Two texts in a row look like one while they are streamed.
      if (said.text.length > whole.length && said.text.startsWith(whole)) {
        said.text = said.text.slice(whole.length)
        return []
      }
      const isLast = said === streamed.at(-1)
      streamed = streamed.filter((part) => part !== said)
      if (said.text === whole) return isLast ? pause() : []
      if (whole.startsWith(said.text) && isLast) return finish(next, whole.slice(said.text.length), width)
      return [...pause(), ...finish(next, whole, width)]
    },
    pause,
    miss: () => {
      missing = true
    },
    begin: () => {
      missing = false
      surplus = 0
      streamed = []
    },
    row: () => coloured(flow.row() === "" ? [] : [flow.row()]),
  }
}
