import { LIMIT } from "../domain/limit.ts"
import { eventInWords } from "../domain/run-activity.ts"
import { isEnded } from "../domain/run.ts"
import { tailEvents } from "../store/event-tail.ts"
import { runPlace } from "../store/place.ts"
import { findRun, spaceHere } from "./find-run.ts"
import { openState } from "./open-state.ts"
import { implement } from "./operation.ts"
import { seconds, sparse } from "./run-document.ts"
import { RUN_TAIL } from "./run.meta.ts"

/** The most lines a document holds, the newest ones. */
const MOST_LINES = 1_000

export const runTail = implement(RUN_TAIL, {
  run: async (input, world) => {
    const state = openState(world)
    const space = spaceHere(input.space, state, world)
    let run = await findRun(space, input.runId, state)
    const tail = tailEvents(runPlace(space, run.id).events)
    const kept: string[] = []
    const tell = (lines: readonly string[]): void => {
      if (!world.json) world.print?.(lines.map((line) => `${line}\n`).join(""))
      kept.push(...lines)
      kept.splice(0, kept.length - MOST_LINES)
    }
    const news = (): readonly string[] => tail.read().flatMap((event) => eventInWords(event) ?? [])
    tell(news().slice(-input.lines))
    while (!input.once && !isEnded(run)) {
      await world.clock.sleep(LIMIT.pollMs, world.signal)
      world.signal.throwIfAborted()
      // First the run, then its events, so that its last act is printed before its end.
      run = await findRun(space, run.id, state)
      tell(news())
    }
    return sparse({ run_id: run.id, status: run.status, duration_secs: run.end?.durationSecs, lines: kept })
  },
  // Every line was printed when it came.
  text: () => "",
  notes: ({ run_id: id, status, duration_secs: duration }) =>
    `${id} ${status}${duration === undefined ? "" : ` after ${seconds(duration)}`}`,
})
