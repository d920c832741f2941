/**
 * What no event tells, said aloud for those who watch this process (`node:diagnostics_channel`). Nobody has to listen, and
 * nothing depends on it.
 */
import { channel } from "node:diagnostics_channel"

import type { Fence } from "../../port/store.ts"

const FLUSH = channel("meridian:engine:flush")
const LEASE_LOST = channel("meridian:engine:lease-lost")

/** How long the disk took, in milliseconds. */
export const sayFlushed = (milliseconds: number): void => {
  if (FLUSH.hasSubscribers) FLUSH.publish(milliseconds)
}

/** Somebody else has the session now. May be said more than once of one fence. */
export const sayLeaseLost = ({ session, number }: Fence): void => {
  if (LEASE_LOST.hasSubscribers) LEASE_LOST.publish(`${session} ${number}`)
}
