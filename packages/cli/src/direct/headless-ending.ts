/** How a run without a terminal ends badly: the line it prints, and the code of a signal. */
import { renderFailure, type Failure } from "@meridian/protocol"
import { Interrupted, type DirectEvent, type World } from "@meridian/spaces"

import { classOfFailure } from "./failure-class.ts"

export const failureLine = (failure: Failure): DirectEvent => ({
  type: "error",
  failure: classOfFailure({ code: failure.code, message: failure.message }),
  message: renderFailure(failure),
})

export const signalCode = ({ signal }: Pick<World, "signal">): number => {
  const reason: unknown = signal.reason
  return reason instanceof Interrupted && reason.signal === "SIGINT" ? 130 : 143
}
