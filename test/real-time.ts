/** The real clock, for tests of plain asynchronous code that takes one. */
import { Clock, Effect } from "effect"

import { timeOf } from "../packages/engine/src/port/time.ts"

export const realTime = timeOf(Effect.runSync(Clock.clockWith(Effect.succeed)))
