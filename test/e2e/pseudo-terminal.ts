/** A real pseudo-terminal with a user in front of it: it takes keys and returns what the screen shows. */
import { spawn } from "@lydell/node-pty"
import xterm from "@xterm/headless"

export interface PseudoTerminal {
  /** Sends keys unchanged. */
  readonly type: (text: string) => void
  /** All text, scrolled rows included, without empty rows at the end. */
  readonly text: () => string
  /** Every byte received, to check that something never came. */
  readonly bytes: () => string
  /** The position of the cursor on the screen. */
  readonly cursor: () => { readonly row: number; readonly column: number }
  /** Resolves with the text once it holds this. Rejects with the current text when it never does. */
  readonly until: (wanted: string | RegExp | ((text: string) => boolean)) => Promise<string>
  readonly resize: (columns: number, rows: number) => void
  readonly kill: (signal: string) => void
  readonly exited: Promise<{ readonly code: number; readonly signal: number }>
}

export interface PseudoOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly columns?: number
  readonly rows?: number
}

const PATIENCE_MS = 30_000

export const openPseudoTerminal = (
  command: string,
  args: readonly string[],
  { cwd, env, columns = 80, rows = 24 }: PseudoOptions,
): PseudoTerminal => {
  const screen = new xterm.Terminal({ cols: columns, rows, scrollback: 5000, allowProposedApi: true })
  const child = spawn(command, [...args], {
    cwd,
    env: { TERM: "xterm-256color", ...env },
    cols: columns,
    rows,
  })
  const looks = new Set<() => void>()
  let bytes = ""
  child.onData((data) => {
    bytes += data
    screen.write(data, () => {
      for (const look of looks) look()
    })
  })
  const exited = new Promise<{ code: number; signal: number }>((resolve) => {
    // By then, everything written before is on the screen.
    child.onExit(({ exitCode, signal = 0 }) => screen.write("", () => resolve({ code: exitCode, signal })))
  })
  const text = (): string => {
    const { active } = screen.buffer
    const lines = Array.from({ length: active.length }, (_, row) =>
      active.getLine(row)?.translateToString(true),
    )
    return lines.join("\n").trimEnd()
  }
  return {
    type: (keys) => child.write(keys),
    text,
    bytes: () => bytes,
    cursor: () => ({ row: screen.buffer.active.cursorY, column: screen.buffer.active.cursorX }),
    until: (wanted) =>
      new Promise((resolve, reject) => {
        const holds = (now: string): boolean =>
          typeof wanted === "string"
            ? now.includes(wanted)
            : wanted instanceof RegExp
              ? wanted.test(now)
              : wanted(now)
        const give = (): void => {
          looks.delete(look)
          clearTimeout(timer)
        }
        const look = (): void => {
          const now = text()
          if (!holds(now)) return
          give()
          resolve(now)
        }
        const timer = setTimeout(() => {
          give()
          reject(new Error(`${String(wanted)} never came. On the screen:\n${text()}`))
        }, PATIENCE_MS)
        looks.add(look)
        look()
      }),
    resize: (cols, lines) => {
      child.resize(cols, lines)
      screen.resize(cols, lines)
    },
    kill: (signal) => child.kill(signal),
    exited,
  }
}
