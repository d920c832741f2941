import type { Delivery } from "@meridian/protocol"

/** Where the drain is when it asks: inside an activity, or about to go idle. */
export type Boundary = "continuing" | "settled"

export interface PendingInput {
  readonly id: string
  readonly delivery: Delivery
  readonly admittedSeq: number
}

/**
 * Picks the inputs that become visible at this safe boundary, oldest first, at most one batch.
 *
 * Steers always join. A queued input opens a new activity, so it waits until the previous one has settled and no steer is
 * waiting. Only one opens at a time.
 */
export const choosePromotions = <Input extends PendingInput>(
  pending: readonly Input[],
  boundary: Boundary,
  batch: number,
): readonly Input[] => {
  const ordered = pending.toSorted((left, right) => left.admittedSeq - right.admittedSeq)
  const steers = ordered.filter((input) => input.delivery === "steer")
  if (steers.length > 0) return steers.slice(0, batch)
  if (boundary === "continuing") return []
  const opener = ordered.find((input) => input.delivery === "queue")
  return opener === undefined ? [] : [opener]
}
