/**
 * What no event records, published for observers of this process (`node:diagnostics_channel`). Listening is optional and
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

/** Another holder has the session now. May be published more than once for one fence. */
export const sayLeaseLost = ({ session, number }: Fence): void => {
  if (LEASE_LOST.hasSubscribers) LEASE_LOST.publish(`${session} ${number}`)
}
