/**
 * What no log records: how long the disk took, and when a session was taken from its process. The engine publishes both.
 */
import { channel } from "node:diagnostics_channel"

import type { MetricRegistry } from "./metrics.ts"

/** Seconds of a flush, from a virtual disk to one in trouble. */
const SECONDS = [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5]

const MOST_TOLD = 1_000

/** Returns a function that stops listening. */
export const observeEngine = (registry: MetricRegistry): (() => void) => {
  const flushes = registry.histogram(
    { name: "meridian.flush.duration", description: "How long the disk took to be sure", unit: "s" },
    SECONDS,
  )
  const losses = registry.counter({
    name: "meridian.lease.losses",
    description: "Sessions that another process took over while this one had them",
    unit: "{lease}",
  })
  const onFlush = (message: unknown): void => {
    if (typeof message === "number") flushes.record(message / 1_000)
  }
  const told = new Set<unknown>()
  const onLoss = (lease: unknown): void => {
    // The same loss may be noticed more than once.
    if (told.has(lease)) return
    if (told.size >= MOST_TOLD) told.clear()
    told.add(lease)
    losses.add(1)
  }
  const channels = [
    [channel("meridian:engine:flush"), onFlush],
    [channel("meridian:engine:lease-lost"), onLoss],
  ] as const
  for (const [each, listener] of channels) each.subscribe(listener)
  return () => {
    for (const [each, listener] of channels) each.unsubscribe(listener)
  }
}
