/** What every operation on spaces, chats and runs works with: where the state is, the time, and who we are. */
import type { ProcessMark } from "../domain/process-mark.ts"
import { acpEntry, HARNESSES, type HarnessEntry } from "../harness/registry.ts"
import { isAcp } from "../port/harness.ts"
import type { OnDamage } from "../store/journal.ts"
import type { StatePlace } from "../store/place.ts"
import { markOf } from "../store/process-table.ts"
import type { Repair } from "../store/run-liveness.ts"
import type { World } from "./world.ts"

export interface State extends Repair {
  readonly place: StatePlace
  readonly onDamage: OnDamage
}

export const isoTime = (milliseconds: number): string => new Date(milliseconds).toISOString()

/** Dates end somewhere; a reset in 400 years is told as the last we can write. */
export const LATEST_MS = Date.parse("9999-12-31T00:00:00.000Z")

/** This process, as the logs name it. */
export const ownMark = (): ProcessMark | undefined => markOf(process.pid)

/** By its id; an agent of the user's configuration, too, whether or not it is still there. */
export const harnessEntry = (
  world: Pick<World, "harnesses" | "program">,
  id: string,
): HarnessEntry | undefined =>
  harnessesOf(world).find((entry) => entry.id === id) ?? (isAcp(id) ? acpEntry(id, world.program) : undefined)

/** The harnesses there are: ours, and what the command added. */
export const harnessesOf = (world: Pick<World, "harnesses">): readonly HarnessEntry[] =>
  world.harnesses ?? HARNESSES
