/** Shared by every operation on spaces, chats and runs: where the state is, the time, and who we are. */
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

/** The last date we can write. A reset in 400 years is shown as this. */
export const LATEST_MS = Date.parse("9999-12-31T00:00:00.000Z")

/** This process, as the logs name it. */
export const ownMark = (): ProcessMark | undefined => markOf(process.pid)

/** Finds a harness by its id, including an agent of the user's configuration, even one that was removed. */
export const harnessEntry = (
  world: Pick<World, "harnesses" | "program">,
  id: string,
): HarnessEntry | undefined =>
  harnessesOf(world).find((entry) => entry.id === id) ?? (isAcp(id) ? acpEntry(id, world.program) : undefined)

/** All harnesses: ours, and those the command added. */
export const harnessesOf = (world: Pick<World, "harnesses">): readonly HarnessEntry[] =>
  world.harnesses ?? HARNESSES
