/** The highest tier that tools of `meridian serve` may give the runs they start. */
import { Failure } from "@meridian/protocol"

import { lowerTier, type FileTier, type PermissionTier } from "../domain/tier.ts"
import { readConfig } from "./config.ts"
import { openState } from "./open-state.ts"
import { parentRun, parentTier, TIER_VARIABLE } from "./parent.ts"
import type { World } from "./world.ts"

/**
 * The environment for tool calls, which names their ceiling. Inside a run that is the run's own tier; elsewhere the
 * requested one (`serve --permission`), else the user's default.
 */
export const toolEnvironment = async (asked: FileTier | undefined, world: World): Promise<World["env"]> => {
  const parent = parentTier(undefined, openState(world), world)
  const own = asked ?? (parentRun(world) === undefined ? await ownTier(world) : undefined)
  const ceiling = lowest(parent, own)
  return ceiling === undefined ? world.env : { ...world.env, [TIER_VARIABLE]: ceiling }
}

/** An unreadable configuration gives nothing, and every call reports what is wrong with it. */
const ownTier = async (world: World): Promise<FileTier> => {
  try {
    return (await readConfig(world)).ownTier
  } catch (error) {
    if (error instanceof Failure) return "read-only"
    throw error
  }
}

const lowest = (
  left: PermissionTier | undefined,
  right: PermissionTier | undefined,
): PermissionTier | undefined =>
  left === undefined || right === undefined ? (left ?? right) : lowerTier(left, right)
