/** Text that is still being written, as rows: full rows come out, and the last row is kept until more comes. Pure. */
import { wrapLine } from "./columns.ts"

export interface Flow {
  /** Rows that will not change any more. */
  readonly push: (text: string, width: number) => readonly string[]
  /** The row that may still grow. */
  readonly row: () => string
  /** The last row, unless it is empty. */
  readonly end: () => readonly string[]
}

/** `show` makes rows of a finished line, or of the full part of a long one. */
export const openFlow = (show: (line: string, width: number) => readonly string[] = wrapLine): Flow => {
  let row = ""
  return {
    push: (text, width) => {
      const lines = (row + text).split("\n")
      const last = wrapLine(lines.pop() ?? "", width)
      row = last.at(-1) ?? ""
      return [...lines, ...last.slice(0, -1)].flatMap((line) => show(line, width))
    },
    row: () => row,
    end: () => {
      const rest = row
      row = ""
      return rest === "" ? [] : show(rest, Number.MAX_SAFE_INTEGER)
    },
  }
}
