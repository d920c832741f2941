/**
 * Lines at the bottom of a terminal that change while work goes on. Other text for stderr goes above them. No line is
 * wider than the terminal, so none wraps and the way back up is known.
 */
import { plainText } from "@meridian/protocol"

import { cutTo } from "./direct/conversation/columns.ts"
import { heightOf } from "./direct/conversation/screen.ts"

export interface LiveLines {
  /** Replaces the lines; [] removes them. */
  readonly show: (lines: readonly string[]) => void
  /** Text that stays. */
  readonly write: (text: string) => void
}

/** `draw` writes its text unchanged. Everything shown here is made plain first. */
export const openLiveLines = (
  draw: (text: string) => void,
  size: () => { readonly columns: number; readonly rows: number },
): LiveLines => {
  let drawn: readonly string[] = []
  let lines: readonly string[] = []

  const clear = (): void => {
    // A terminal that was made narrower has wrapped them since.
    if (drawn.length > 0) draw(`\r\u001B[${heightOf(drawn, size().columns)}A\u001B[J`)
    drawn = []
  }

  const redraw = (): void => {
    const { columns, rows } = size()
    const most = Math.max(1, rows - 2)
    const shown =
      lines.length <= most ? lines : [...lines.slice(0, most - 1), moreLine(lines.length - most + 1)]
    // The last column stays free: some terminals wrap a line that fills it.
    const width = Math.max(1, columns - 1)
    drawn = shown.map((line) => cutTo(plainText(line), width))
    if (drawn.length > 0) draw(drawn.map((line) => `${line}\n`).join(""))
  }

  return {
    show: (next) => {
      if (next.length === 0 && drawn.length === 0) return
      clear()
      lines = next
      redraw()
    },
    write: (text) => {
      if (drawn.length === 0) return draw(plainText(text))
      clear()
      draw(plainText(text))
      // An unfinished line must not be drawn over.
      if (text.endsWith("\n")) redraw()
    },
  }
}

const moreLine = (count: number): string => `and ${count} more`
