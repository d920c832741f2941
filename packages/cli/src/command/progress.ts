/** Shows the progress of long work in a live line on a person's terminal. Elsewhere it writes nothing. */
import type { World } from "@meridian/spaces"

export interface Progress extends Disposable {
  readonly show: (done: number, all: number) => void
}

/** Shorter work is not worth a line. */
const SILENT_MS = 400
const BETWEEN_MS = 200

export const openProgress = async (
  { openLive, clock }: Pick<World, "openLive" | "clock">,
  what: string,
): Promise<Progress> => {
  let next = clock.now() + SILENT_MS
  const live = await openLive?.()
  return {
    show: (done, all) => {
      if (live === undefined || all === 0 || clock.now() < next) return
      next = clock.now() + BETWEEN_MS
      live([`${what}: ${Math.floor((done / all) * 100)} %`])
    },
    [Symbol.dispose]: () => live?.([]),
  }
}
