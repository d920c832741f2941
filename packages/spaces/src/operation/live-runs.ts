/** One live line for each run on a person's terminal while a command waits for them. Elsewhere it shows nothing. */
import type { Run } from "../domain/run.ts"
import type { SpacePlace } from "../store/place.ts"
import { liveLine, watchRun } from "./run-look.ts"
import type { World } from "./world.ts"

export interface LiveRuns extends AsyncDisposable {
  /** Replaces the shown runs. */
  readonly show: (runs: readonly Run[]) => void
}

const REDRAW_MS = 500

export const openLiveRuns = async (
  space: SpacePlace,
  { openLive, clock }: Pick<World, "openLive" | "clock">,
  isQuiet: boolean,
): Promise<LiveRuns> => {
  const live = isQuiet ? undefined : await openLive?.()
  if (live === undefined) return { show: () => {}, [Symbol.asyncDispose]: async () => {} }
  const looks = new Map<Run["id"], ReturnType<typeof watchRun>>()
  const closed = new AbortController()
  let shown: readonly Run[] = []

  const draw = (): void => {
    const lines = shown.map((run) => {
      const look = looks.get(run.id) ?? watchRun(space, run.id)
      looks.set(run.id, look)
      return liveLine(look(run), clock.now())
    })
    live(lines)
  }

  const drawing = (async () => {
    while (!closed.signal.aborted) {
      await clock.sleep(REDRAW_MS, closed.signal)
      if (!closed.signal.aborted) draw()
    }
  })()

  return {
    show: (runs) => {
      shown = runs
      draw()
    },
    [Symbol.asyncDispose]: async () => {
      closed.abort()
      await drawing
      live([])
    },
  }
}
