/** How far a long piece of work is, on the terminal of a person. Nothing is written anywhere else. */
import type { World } from "@meridian/spaces"

export interface Progress extends Disposable {
  readonly show: (done: number, all: number) => void
}

/** Work that is done sooner is not worth a line. */
const SILENT_MS = 400
const BETWEEN_MS = 200

export const openProgress = (
  { terminal, json, stderr, clock }: Pick<World, "terminal" | "json" | "stderr" | "clock">,
  what: string,
): Progress => {
  const isShown = terminal.stderr && !json
  let next = clock.now() + SILENT_MS
  let written = false
  return {
    show: (done, all) => {
      if (!isShown || all === 0 || clock.now() < next) return
      next = clock.now() + BETWEEN_MS
      written = true
      stderr.write(`\r${what}: ${Math.floor((done / all) * 100)} %`)
    },
    [Symbol.dispose]: () => {
      if (written) stderr.write("\r\u001b[K")
    },
  }
}
