/**
 * The terminal itself: raw keys in, rows out. Rows that stay are written above the live ones, which are erased and
 * redrawn. Whatever ends this process, the terminal is restored.
 */
import { emitKeypressEvents } from "node:readline"
import type { ReadStream, WriteStream } from "node:tty"

import { advance } from "./dumb-line.ts"
import type { Key } from "./editor.ts"
import { heightOf, type Live, type Size } from "./screen.ts"
import { isDumb } from "./style.ts"

export type Input =
  | { readonly tag: "key"; readonly key: Key }
  | { readonly tag: "resized" }
  /** The input has ended. */
  | { readonly tag: "closed" }

export interface Terminal {
  /** True if live rows cannot be drawn. */
  readonly isDumb: boolean
  readonly size: () => Size
  /** Writes rows that stay, then the live ones below them. */
  readonly draw: (rows: readonly string[], live: Live) => void
  /** Returns the terminal to the shell (Ctrl-Z) until we are continued, then asks for a redraw. */
  readonly suspend: () => void
  /** Erases the live rows and restores the terminal. A second call does nothing. */
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

interface Keyboard {
  readonly close: () => void
}

/** Raw keys and size changes, until it is closed or the input ends. */
const openKeyboard = ({ input, output }: Streams, receive: (input: Input) => void): Keyboard => {
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
  emitKeypressEvents(input)
  input.on("keypress", onKey)
  input.on("end", onEnd)
  input.on("error", onEnd)
  output.on("resize", onResize)
  // A terminal that went away reports an error. We keep listening, because more may come while we leave.
  output.on("error", onEnd)
  input.setRawMode(true)
  input.resume()
  return {
    close: () => {
      input.off("keypress", onKey)
      input.off("end", onEnd)
      input.off("error", onEnd)
      output.off("resize", onResize)
      try {
        input.setRawMode(false)
      } catch {
        // The terminal is gone: there is nothing to restore.
      }
      input.pause()
    },
  }
}

const openRich = (streams: Streams, receive: (input: Input) => void): Terminal => {
  const { input, output } = streams
  let drawn: Live | undefined
  let closed = false

  /** Moves from the cursor's row to the first live one. A terminal made narrower has wrapped the rows since. */
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

  const close = (): void => {
    if (closed) return
    closed = true
    process.off("exit", close)
    output.write(`${erase()}${PASTE_OFF}`)
    keyboard.close()
  }

  const keyboard = openKeyboard(streams, receive)
  process.on("exit", close)
  output.write(PASTE_ON)
  return {
    isDumb: false,
    size: () => sizeOf(output),
    suspend: () => {
      output.write(`${erase()}${PASTE_OFF}`)
      suspend(input, () => {
        if (closed) return
        output.write(PASTE_ON)
        receive({ tag: "resized" })
      })
    },
    draw: (rows, live) => {
      if (!closed) output.write(erase() + rows.map((row) => `${row}\r\n`).join("") + paint(live))
    },
    close,
  }
}

/** Only moves forward: rows that stay, then the one line being written, letter by letter. */
const openDumb = (streams: Streams, receive: (input: Input) => void): Terminal => {
  const { input, output } = streams
  let shown = ""
  let closed = false
  const keyboard = openKeyboard(streams, receive)
  const close = (): void => {
    if (closed) return
    closed = true
    process.off("exit", close)
    if (shown !== "") output.write("\r\n")
    keyboard.close()
  }
  process.on("exit", close)
  return {
    isDumb: true,
    size: () => sizeOf(output),
    suspend: () => {
      output.write("\r\n")
      shown = ""
      suspend(input, () => receive({ tag: "resized" }))
    },
    draw: (rows, live) => {
      if (closed) return
      const next = advance(shown, { rows, line: live.rows.join(" ") })
      shown = next.line
      if (next.output !== "") output.write(next.output)
    },
    close,
  }
}

/** The whole process group stops, including our launcher. No timer fires before it is continued. */
const suspend = (input: ReadStream, resume: () => void): void => {
  input.setRawMode(false)
  process.kill(0, "SIGTSTP")
  setTimeout(() => {
    input.setRawMode(true)
    resume()
  }, CONTINUED_MS)
}
