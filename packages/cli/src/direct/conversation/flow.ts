/** Text that is still being written, as rows: what is full is given out, the last row is kept until more comes. Pure. */
import { wrapLine } from "./columns.ts"

export interface Flow {
  /** Rows that will not change any more. */
  readonly push: (text: string, width: number) => readonly string[]
  /** The row that may still grow. */
  readonly row: () => string
  /** The last row, if there is something in it. */
  readonly end: () => readonly string[]
}

export const openFlow = (): Flow => {
  let row = ""
  return {
    push: (text, width) => {
      const lines = (row + text).split("\n")
      const last = wrapLine(lines.pop() ?? "", width)
      row = last.at(-1) ?? ""
      return [...lines.flatMap((line) => wrapLine(line, width)), ...last.slice(0, -1)]
    },
    row: () => row,
    end: () => {
      const rest = row
      row = ""
      return rest === "" ? [] : [rest]
    },
  }
}
