import { expect, test } from "vitest"

import { openStopper, type StopOptions } from "./stop-source.ts"
import { Interrupted, type SignalName } from "./world.ts"

const open = (options: Partial<StopOptions> = {}) => {
  const listeners = new Set<(signal: SignalName) => void>()
  const over = new AbortController()
  let asked = 0
  const stopper = openStopper(
    {
      signal: over.signal,
      onSignal: (listener) => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
      clock: { now: () => 0, sleep: () => new Promise(() => undefined) },
    },
    { owner: "person", isAsked: () => false, onAsked: () => (asked += 1), ...options },
  )
  return {
    stopper,
    asked: () => asked,
    send: (signal: SignalName) => {
      for (const listener of listeners) listener(signal)
      over.abort(new Interrupted(signal))
    },
  }
}

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("%s to a person's command stops the run, and that is written down once", (signal, code) => {
  const { stopper, asked, send } = open()
  send(signal)
  expect([stopper.reason(), stopper.exitCode(), stopper.signal.aborted]).toEqual(["cancelled", code, true])
  expect([stopper.hurry.aborted, stopper.isLeft(), asked()]).toEqual([false, false, 1])
  send(signal)
  expect([stopper.hurry.aborted, asked()]).toEqual([true, 1])
})

test("a run survives the end of its terminal", () => {
  const { stopper, send, asked } = open()
  send("SIGHUP")
  expect([stopper.signal.aborted, stopper.reason(), asked()]).toEqual([false, undefined, 0])
  send("SIGINT")
  expect([stopper.reason(), stopper.hurry.aborted]).toEqual(["cancelled", false])
})

test.each(["SIGTERM", "SIGHUP", "SIGINT"] as const)(
  "%s to a worker without a request to stop leaves the run to others",
  (signal) => {
    const { stopper, send, asked } = open({ owner: "worker" })
    send(signal)
    expect([stopper.signal.aborted, stopper.isLeft(), asked()]).toEqual([true, true, 0])
  },
)

test("a worker stops its run if a stop was requested", () => {
  const { stopper, send } = open({ owner: "worker", isAsked: () => true })
  send("SIGTERM")
  expect([stopper.isLeft(), stopper.reason(), stopper.exitCode()]).toEqual([false, "cancelled", 143])
})
