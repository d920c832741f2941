/**
 * What no log records: how long the disk or the server took, when a session was taken from its process, and the state of
 * this node. The engine publishes it.
 */
import { channel } from "node:diagnostics_channel"

import type { NodeStanding, SharedStep } from "@meridian/engine"

import type { MetricRegistry } from "./metrics.ts"

/** Seconds of a flush or a round trip, from a virtual disk to one in trouble. */
const SECONDS = [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5]
const GROUPS = [1, 2, 4, 8, 16, 32, 64]

const MOST_TOLD = 1_000

export interface Observing {
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly onStep: (step: SharedStep) => void
}

/** Returns a function that stops listening. */
export const observeEngine = (registry: MetricRegistry, { now, onStep }: Observing): (() => void) => {
  const flushes = registry.histogram(
    { name: "meridian.flush.duration", description: "How long the disk took to be sure", unit: "s" },
    SECONDS,
  )
  const losses = registry.counter({
    name: "meridian.lease.losses",
    description: "Sessions that another process took over while this one had them",
    unit: "{lease}",
  })
  const appends = registry.histogram(
    { name: "meridian.append.duration", description: "How long appends to a server took", unit: "s" },
    SECONDS,
  )
  const groups = registry.histogram(
    { name: "meridian.append.group", description: "Appends that went to a server as one", unit: "{append}" },
    GROUPS,
  )
  const claims = registry.counter({
    name: "meridian.lease.claims",
    description: "Sessions this node took up on a server, and whether their owner was lost",
    unit: "{lease}",
  })
  const hints = registry.histogram(
    { name: "meridian.hint.delay", description: "How long hints of a server were on their way", unit: "s" },
    SECONDS,
  )
  let standing: (NodeStanding & { readonly at: number }) | undefined
  const gauge = (name: string, description: string, unit: string, of: (standing: NodeStanding) => number) =>
    registry.gauge({ name, description, unit }, () => (standing === undefined ? undefined : of(standing)))
  gauge("meridian.node.beat.age", "Since the server last confirmed this node", "s", ({ silentMs }) =>
    seconds(silentMs + Math.max(0, now() - (standing?.at ?? 0))),
  )
  gauge("meridian.node.sessions", "Sessions this node has", "{session}", ({ sessions }) => sessions)
  gauge("meridian.node.places", "Sessions this node takes at once", "{session}", ({ places }) => places)
  gauge(
    "meridian.sessions.waiting",
    "Sessions of the cluster that no node has taken up",
    "{session}",
    (all) => all.waiting,
  )
  gauge("meridian.sessions.waiting.age", "How long the oldest of them waits", "s", ({ waitingMs }) =>
    seconds(waitingMs),
  )

  const told = new Set<unknown>()
  const onLoss = (lease: unknown): void => {
    // The same loss may be noticed more than once.
    if (told.has(lease)) return
    if (told.size >= MOST_TOLD) told.clear()
    told.add(lease)
    losses.add(1)
  }
  const onShared = (step: SharedStep): void => {
    const { name, start, end, attributes } = step
    if (name === "store.append")
      appends.record(seconds(end - start), { outcome: String(attributes["meridian.append.outcome"]) })
    if (name === "lease.claim") claims.add(1, { taken_over: String(attributes["meridian.lease.taken_over"]) })
    onStep(step)
  }
  const onNumber = (take: (value: number) => void) => (message: unknown) => {
    if (typeof message === "number") take(message)
  }
  const channels = [
    [channel("meridian:engine:flush"), onNumber((ms) => flushes.record(seconds(ms)))],
    [channel("meridian:engine:lease-lost"), onLoss],
    [channel("meridian:engine:append-group"), onNumber((size) => groups.record(size))],
    [channel("meridian:engine:hint"), onNumber((ms) => hints.record(seconds(ms)))],
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the engine of this very package says it
    [channel("meridian:engine:step"), (message: unknown) => onShared(message as SharedStep)],
    [
      channel("meridian:engine:node"),
      (message: unknown) => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
        standing = { ...(message as NodeStanding), at: now() }
      },
    ],
  ] as const
  for (const [each, listener] of channels) each.subscribe(listener)
  return () => {
    for (const [each, listener] of channels) each.unsubscribe(listener)
  }
}

const seconds = (milliseconds: number): number => milliseconds / 1_000
