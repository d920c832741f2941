/** What the model is saying, from its fragments and from the durable text that follows them. A fold: no I/O. */
import { openFlow } from "./flow.ts"
import { openTextStream } from "./plain-text.ts"
import type { Style } from "./style.ts"

export type Kind = "text" | "reasoning"

export interface Speaking {
  readonly push: (kind: Kind, delta: string, width: number) => readonly string[]
  /** The durable text: what of it was not streamed is said now. */
  readonly end: (kind: Kind, whole: string, width: number) => readonly string[]
  readonly stop: () => readonly string[]
  /** Fragments were lost: until the next work begins only durable texts are told. */
  readonly miss: () => void
  readonly begin: () => void
  readonly row: () => readonly string[]
}

/**
 * Fragments and the durable text come on two ways, in any order towards each other. What the durable text said before its
 * last fragments arrived is counted, and these are not said again.
 */
export const openSpeaking = (style: Style): Speaking => {
  const flow = openFlow()
  let stream = openTextStream()
  let kind: Kind = "text"
  let said = ""
  let surplus = 0
  let missing = false

  const coloured = (rows: readonly string[]): readonly string[] =>
    kind === "reasoning" ? rows.map(style.dim) : rows

  const stop = (): readonly string[] => {
    const rows = coloured(flow.end())
    stream = openTextStream()
    said = ""
    return rows
  }

  const write = (text: string, width: number): readonly string[] =>
    coloured(flow.push(stream.push(text), width))

  return {
    push: (next, delta, width) => {
      if (missing) return []
      const late = Math.min(surplus, delta.length)
      surplus -= late
      const fresh = delta.slice(late)
      if (fresh === "") return []
      const before = next === kind ? [] : stop()
      kind = next
      said += fresh
      return [...before, ...write(fresh, width)]
    },
    end: (next, whole, width) => {
      const before = next === kind ? [] : stop()
      kind = next
      const streamed = whole.startsWith(said)
      const broken = streamed ? [] : stop()
      const rest = whole.slice(said.length)
      surplus += rest.length
      const rows = [...write(rest, width), ...coloured(flow.push(stream.end(), width))]
      return [...before, ...broken, ...rows, ...stop()]
    },
    stop,
    miss: () => {
      missing = true
    },
    begin: () => {
      missing = false
      surplus = 0
    },
    row: () => coloured(flow.row() === "" ? [] : [flow.row()]),
  }
}
