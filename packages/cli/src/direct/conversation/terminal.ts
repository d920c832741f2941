/**
 * The terminal itself: raw keys in, rows out. Rows that stay are written above the live ones, which are erased and drawn again.
 * Whatever ends this process, the terminal is given back as it was.
 */
import { createInterface, emitKeypressEvents } from "node:readline"
import type { ReadStream, WriteStream } from "node:tty"

import type { Key } from "./editor.ts"
import { heightOf, type Live, type Size } from "./screen.ts"
import { isDumb } from "./style.ts"

export type Input =
  | { readonly tag: "key"; readonly key: Key }
  /** From a terminal that edits its lines itself. */
  | { readonly tag: "line"; readonly text: string }
  | { readonly tag: "resized" }
  /** Nobody types any more. */
  | { readonly tag: "closed" }

export interface Terminal {
  /** Whether live rows can be drawn at all. */
  readonly isDumb: boolean
  readonly size: () => Size
  /** Writes rows that stay, then the live ones below them. */
  readonly draw: (rows: readonly string[], live: Live) => void
  /** Gives the terminal back to the shell (Ctrl-Z) until we are continued, then asks to be drawn again. */
  readonly suspend: () => void
  /** Erases the live rows and gives the terminal back. Again: nothing. */
  readonly close: () => void
}

export interface Streams {
  readonly input: ReadStream
  readonly output: WriteStream
}

export const openTerminal = (
  streams: Streams,
  env: Readonly<Record<string, string | undefined>>,
  receive: (input: Input) => void,
): Terminal => (isDumb(env) ? openDumb(streams, receive) : openRich(streams, receive))

const sizeOf = ({ columns, rows }: WriteStream): Size => ({
  columns: columns > 0 ? columns : 80,
  rows: rows > 0 ? rows : 24,
})

const PASTE_ON = "\u001B[?2004h"
const PASTE_OFF = "\u001B[?2004l"
const CONTINUED_MS = 20

const openRich = ({ input, output }: Streams, receive: (input: Input) => void): Terminal => {
  let drawn: Live | undefined
  let closed = false

  /** From the cursor's row to the first live one; a terminal made narrower has broken the rows meanwhile. */
  const erase = (): string => {
    if (drawn === undefined) return ""
    const { columns } = sizeOf(output)
    const { row, column } = drawn.cursor
    const up = heightOf(drawn.rows.slice(0, row), columns) + Math.floor(column / columns)
    drawn = undefined
    return `${up === 0 ? "" : `\u001B[${up}A`}\r\u001B[J`
  }

  const paint = (live: Live): string => {
    const up = live.rows.length - 1 - live.cursor.row
    const { column } = live.cursor
    drawn = live
    return `${live.rows.join("\r\n")}${up === 0 ? "" : `\u001B[${up}A`}\r${column === 0 ? "" : `\u001B[${column}C`}`
  }

  const onKey = (text: string | undefined, key: Partial<Key> | undefined): void => {
    receive({
      tag: "key",
      key: {
        name: key?.name,
        sequence: text ?? key?.sequence ?? "",
        ctrl: key?.ctrl === true,
        meta: key?.meta === true,
      },
    })
  }
  const onResize = (): void => receive({ tag: "resized" })
  const onEnd = (): void => receive({ tag: "closed" })

  const close = (): void => {
    if (closed) return
    closed = true
    input.off("keypress", onKey)
    input.off("end", onEnd)
    input.off("error", onEnd)
    output.off("resize", onResize)
    process.off("exit", close)
    try {
      output.write(`${erase()}${PASTE_OFF}`)
      input.setRawMode(false)
    } catch {
      // The terminal is gone: there is nothing to give back.
    }
    input.pause()
  }

  emitKeypressEvents(input)
  // A terminal that went away tells it by an error; the end that follows says everything.
  output.on("error", onEnd)
  input.on("keypress", onKey)
  input.on("end", onEnd)
  input.on("error", onEnd)
  output.on("resize", onResize)
  process.on("exit", close)
  input.setRawMode(true)
  input.resume()
  output.write(PASTE_ON)
  return {
    isDumb: false,
    size: () => sizeOf(output),
    suspend: () => {
      output.write(`${erase()}${PASTE_OFF}`)
      input.setRawMode(false)
      // The whole group, with whoever started us; no timer fires before somebody continues it.
      process.kill(0, "SIGTSTP")
      setTimeout(() => {
        if (closed) return
        input.setRawMode(true)
        output.write(PASTE_ON)
        onResize()
      }, CONTINUED_MS)
    },
    draw: (rows, live) => {
      if (!closed) output.write(erase() + rows.map((row) => `${row}\r\n`).join("") + paint(live))
    },
    close,
  }
}

/** Lines in, lines out: the terminal echoes and edits, Ctrl-C comes as a signal. */
const openDumb = ({ input, output }: Streams, receive: (input: Input) => void): Terminal => {
  const lines = createInterface({ input, terminal: false })
  let prompted = false
  let closed = false
  lines.on("line", (text) => {
    prompted = false
    receive({ tag: "line", text })
  })
  lines.on("close", () => receive({ tag: "closed" }))
  output.on("error", () => receive({ tag: "closed" }))
  return {
    isDumb: true,
    size: () => sizeOf(output),
    // Its Ctrl-Z is the terminal's own.
    suspend: () => undefined,
    draw: (rows, live) => {
      if (closed) return
      if (rows.length > 0) output.write(`${prompted ? "\n" : ""}${rows.join("\n")}\n`)
      prompted = rows.length > 0 ? false : prompted
      const mark = live.rows[live.cursor.row] ?? ""
      if (!prompted && mark !== "") output.write(mark)
      prompted = prompted || mark !== ""
    },
    close: () => {
      closed = true
      lines.removeAllListeners("close")
      lines.close()
      input.pause()
    },
  }
}
