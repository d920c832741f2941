/** The most that tools of `meridian serve` may give the runs they start. */
import { Failure } from "@meridian/protocol"

import { lowerTier, type FileTier, type PermissionTier } from "../domain/tier.ts"
import { readConfig } from "./config.ts"
import { openState } from "./open-state.ts"
import { parentRun, parentTier, TIER_VARIABLE } from "./parent.ts"
import type { World } from "./world.ts"

/**
 * The environment for tool calls: it says the tier they are held to. Inside a run that is the run's own; elsewhere the one
 * that was asked for (`serve --permission`), else the user's default.
 */
export const toolEnvironment = async (asked: FileTier | undefined, world: World): Promise<World["env"]> => {
  const parent = parentTier(undefined, openState(world), world)
  const own = asked ?? (parentRun(world) === undefined ? await ownTier(world) : undefined)
  const ceiling = lowest(parent, own)
  return ceiling === undefined ? world.env : { ...world.env, [TIER_VARIABLE]: ceiling }
}

/** A configuration that cannot be read gives nothing; every call says what is wrong with it. */
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
