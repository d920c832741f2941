import { Failure } from "@meridian/protocol"

import type { Harness } from "../port/harness.ts"
import { harnessEntry } from "./state.ts"
import type { World } from "./world.ts"

/** Throws HARNESS_UNKNOWN. */
export const loadHarness = async (
  id: string,
  world: Pick<World, "harnesses" | "program">,
): Promise<Harness> => {
  const entry = harnessEntry(world, id)
  if (entry === undefined) throw new Failure("HARNESS_UNKNOWN", { harness: id })
  return await entry.load()
}
