import type { Failure } from "@meridian/protocol"
/**
 * The time by which sessions wait for a limit to end. It is the time of this node, unless its clock is clearly another one than
 * the server's: then it is the server's, so that no node goes on before the others would. Leases know no wall clock.
 */
import { Effect, type Scope } from "effect"

import { ask } from "./ask.ts"
import { SERVER_TIME } from "./leases.ts"
import type { Node } from "./node.ts"

/** Clocks that are nearer to each other count as equal: a round trip takes a moment, too. */
export const CLOCKS_APART_MS = 5_000

export const openServerClock = (
  { reads, localTime, every }: Pick<Node, "reads" | "localTime" | "every">,
  everyMs: number,
): Effect.Effect<() => number, Failure, Scope.Scope> =>
  Effect.gen(function* () {
    let ahead = 0
    const look = async (): Promise<void> => {
      const sent = localTime()
      const [row] = await reads.ask(`select ${SERVER_TIME} as now`)
      const apart = Number(row?.["now"]) - (sent + localTime()) / 2
      ahead = nextOffset(ahead, apart)
    }
    yield* ask(look)
    yield* every(everyMs, look)
    return () => Math.round(localTime() + ahead)
  })

/** Small changes are noise: a time that trembles would be no better. */
export const nextOffset = (before: number, measured: number): number => {
  if (Math.abs(measured) < CLOCKS_APART_MS) return 0
  return Math.abs(measured - before) < CLOCKS_APART_MS ? before : measured
}
