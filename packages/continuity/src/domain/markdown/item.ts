/** The items of a list: each bullet with its continuation lines, as one string. */
import type { Line } from "./line.ts"

export interface Item {
  readonly text: string
  readonly indent: number
  readonly bullet: boolean
  readonly box?: string
  readonly number?: string
}

/** A value of many lines is cut here, long before it reaches the brief. */
const MAX_VALUE_LENGTH = 2000

/**
 * Joins continuation lines. A text line directly after a bullet, or after another text line, belongs to it, unless
 * `startsAnew` says that it begins something new.
 */
export const readItems = (
  lines: readonly Line[],
  startsAnew: (line: Line, head: Line) => boolean,
): readonly Item[] => {
  const items: Item[] = []
  let parts: string[] = []
  let length = 0
  let head: Line | undefined
  const finish = (): void => {
    if (head !== undefined) items.push(itemOf(head, parts.join(" ")))
    head = undefined
  }
  for (const line of lines) {
    const continues = head !== undefined && line.kind === "text" && !startsAnew(line, head)
    if (continues) {
      if (length < MAX_VALUE_LENGTH) parts.push(line.text)
      length += line.text.length
      continue
    }
    finish()
    if (line.kind !== "bullet" && line.kind !== "text") continue
    head = line
    parts = [line.text]
    length = line.text.length
  }
  finish()
  return items
}

const itemOf = (line: Line, text: string): Item => ({
  text: text.trim(),
  indent: line.indent,
  bullet: line.kind === "bullet",
  ...(line.box === undefined ? {} : { box: line.box }),
  ...(line.number === undefined ? {} : { number: line.number }),
})
