/**
 * What no event records, published for observers of this process (`node:diagnostics_channel`). Listening is optional and
 * nothing depends on it.
 */
import { channel } from "node:diagnostics_channel"

import type { Fence } from "./store.ts"

const FLUSH = channel("meridian:engine:flush")
const LEASE_LOST = channel("meridian:engine:lease-lost")
const STEP = channel("meridian:engine:step")
const GROUP = channel("meridian:engine:append-group")
const HINT = channel("meridian:engine:hint")
const NODE = channel("meridian:engine:node")

/** A step of this process that no event records. Times are milliseconds since 1970. */
export interface SharedStep {
  readonly name: "store.append" | "lease.claim" | "session.recover"
  readonly session: string
  /** The sequence of the event before it. */
  readonly seq: number
  readonly start: number
  readonly end: number
  readonly attributes: Readonly<Record<string, string | number | boolean>>
}

/** The state of a process that shares a store with others. */
export interface NodeStanding {
  /** The time since the last answered question was sent. */
  readonly silentMs: number
  readonly sessions: number
  readonly places: number
  /** Sessions of the whole store whose work no process has taken up, and how long the oldest has waited. */
  readonly waiting: number
  readonly waitingMs: number
}

/** How long the disk took, in milliseconds. */
export const sayFlushed = (milliseconds: number): void => {
  if (FLUSH.hasSubscribers) FLUSH.publish(milliseconds)
}

/** Another holder has the session now. May be published more than once for one fence. */
export const sayLeaseLost = ({ session, number }: Fence): void => {
  if (LEASE_LOST.hasSubscribers) LEASE_LOST.publish(`${session} ${number}`)
}

export const sayStep = (step: SharedStep): void => {
  if (STEP.hasSubscribers) STEP.publish(step)
}

/** How many appends went to the server together. */
export const sayGroup = (appends: number): void => {
  if (GROUP.hasSubscribers) GROUP.publish(appends)
}

/** How long a hint travelled, in milliseconds. */
export const sayHint = (milliseconds: number): void => {
  if (HINT.hasSubscribers) HINT.publish(milliseconds)
}

/** Reporting costs a question to the server, so it happens only when somebody listens. */
export const isNodeHeard = (): boolean => NODE.hasSubscribers

export const sayNode = (standing: NodeStanding): void => NODE.publish(standing)
