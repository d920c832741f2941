/**
 * The changing rows at the bottom: current work, a question, a status, and the line being written with its cursor.
 * Pure. No row is wider than the terminal, so none wraps. Together they leave room for one row above them.
 */
import { widthOf, wrapLine } from "./columns.ts"
import type { Editor } from "./editor.ts"

export interface Size {
  readonly columns: number
  readonly rows: number
}

export interface Live {
  readonly rows: readonly string[]
  /** The position of the cursor in the rows. */
  readonly cursor: { readonly row: number; readonly column: number }
}

export interface LiveParts {
  /** Already fitted to the width. */
  readonly going: readonly string[]
  readonly question: readonly string[]
  readonly status: string | undefined
  /** The mark before the line being written. */
  readonly mark: string
  readonly editor: Pick<Editor, "text" | "cursor" | "pasted">
}

/** Room for the mark and one wide character. */
const LEAST_COLUMNS = 4

/** One column stays free: after filling its last column, a terminal may already be on the next row. */
export const usable = ({ columns }: Size): number => Math.max(LEAST_COLUMNS, columns - 1)

export const layOut = (parts: LiveParts, size: Size): Live => {
  const width = usable(size)
  const most = Math.max(3, size.rows - 1)
  const line = layOutLine(parts, { width, most: Math.max(2, Math.floor(most / 3)) })
  // Cut from above: the answers to a question are at its end.
  const all = [...parts.question, ...(parts.status === undefined ? [] : [parts.status])]
  const below = all.slice(Math.max(0, all.length - Math.max(0, most - line.rows.length)))
  const room = most - line.rows.length - below.length
  const going = room <= 0 ? [] : parts.going.slice(-room)
  const above = [...going, ...below]
  return {
    rows: [...above, ...line.rows],
    cursor: { row: above.length + line.cursor.row, column: line.cursor.column },
  }
}

/** The line being written, broken where it is too long. If there are too many rows, those around the cursor. */
const layOutLine = (
  { mark, editor }: LiveParts,
  bounds: { readonly width: number; readonly most: number },
): Live => {
  const indent = widthOf(mark)
  const width = Math.max(2, bounds.width - indent)
  const rows: string[] = []
  let cursor = { row: 0, column: 0 }
  let start = 0
  for (const line of editor.text.split("\n")) {
    const pieces = breakHard(line, width)
    for (const [index, piece] of pieces.entries()) {
      const last = index === pieces.length - 1
      const inside = editor.cursor - start
      if (inside >= 0 && (inside < piece.length || (last && inside === piece.length)))
        cursor = { row: rows.length, column: widthOf(piece.slice(0, inside)) }
      rows.push(piece)
      start += piece.length
    }
    start += 1
  }
  const from = Math.max(0, Math.min(cursor.row - bounds.most + 1, rows.length - bounds.most))
  const shown = rows.slice(from, from + bounds.most)
  return {
    rows: shown.map((row, index) => `${from + index === 0 ? mark : " ".repeat(indent)}${row}`),
    cursor: { row: cursor.row - from, column: indent + cursor.column },
  }
}

/** Unlike text for reading, a line being written keeps every space where it was typed. */
const breakHard = (line: string, width: number): readonly string[] => {
  const rows: string[] = []
  let rest = line
  while (widthOf(rest) > width) {
    // Spaces become underscores for a moment, so that only graphemes are counted.
    const head = wrapLine(rest.slice(0, width * 2 + 16).replaceAll(" ", "_"), width)[0] ?? ""
    const taken = Math.max(1, head.length)
    rows.push(rest.slice(0, taken))
    rest = rest.slice(taken)
  }
  return [...rows, rest]
}

/** How many rows these take on a terminal that was made narrower after they were drawn. */
export const heightOf = (rows: readonly string[], columns: number): number =>
  rows.reduce((sum, row) => sum + Math.max(1, Math.ceil(widthOf(row) / Math.max(1, columns))), 0)
