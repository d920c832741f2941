/**
 * Which tier a launch gets. In order of precedence, it comes from the person's flag, the record of the conversation,
 * the agent's profile, or the configuration. Only the person and the person's own files raise rights. What a folder's
 * files wish for is held to the ceiling: the tier the user gave by configuration or with the trust. A child never
 * gets more than its parent.
 */
import { isAbove, lowerTier, type FileTier, type PermissionTier } from "./tier.ts"

export interface RightsWish {
  /** `--permission`. */
  readonly flag?: PermissionTier | undefined
  /** From the chat or run being continued. Its log lies in the folder. */
  readonly recorded?: PermissionTier | undefined
  readonly agent?: { readonly tier: FileTier; readonly isOwn: boolean } | undefined
  /** From the configuration, already held to the ceiling. Undefined: the harness asks as it always does. */
  readonly configured?: FileTier | undefined
}

export interface RightsBounds {
  /** Undefined: the user gave no tier at all, so only the lowest may be wished for. */
  readonly ceiling?: FileTier | undefined
  /** The tier of the run or chat that starts this launch. */
  readonly parent?: PermissionTier | undefined
}

export interface Rights {
  readonly tier?: PermissionTier
  /** A wish that was not granted in full. */
  readonly denied?: DeniedWish
}

export interface DeniedWish {
  readonly by: "flag" | "record" | "agent" | "configuration"
  readonly wished: PermissionTier
  readonly because: "ceiling" | "parent"
}

export const decideRights = (wish: RightsWish, bounds: RightsBounds): Rights => {
  const inFolder = underCeiling(wish, bounds.ceiling)
  const { parent } = bounds
  if (parent === undefined) return inFolder
  const wished = inFolder.tier
  if (wished === undefined) return { ...inFolder, tier: parent }
  if (!isAbove(wished, parent)) return inFolder
  return { tier: parent, denied: { by: wisher(wish), wished, because: "parent" } }
}

const underCeiling = (wish: RightsWish, ceiling: FileTier | undefined): Rights => {
  if (wish.flag !== undefined) return { tier: wish.flag }
  if (wish.recorded === undefined && wish.agent?.isOwn === true) return { tier: wish.agent.tier }
  const wished = wish.recorded ?? wish.agent?.tier
  if (wished === undefined) return given(wish.configured)
  const by = wisher(wish)
  const denied: DeniedWish = { by, wished, because: "ceiling" }
  // Without a tier from the user, the harness asks the person, which is less than any tier that acts unasked.
  if (ceiling === undefined)
    return wished === "read-only" ? { tier: wished } : { ...given(wish.configured), denied }
  return isAbove(wished, ceiling) ? { tier: lowerTier(wished, ceiling), denied } : { tier: wished }
}

const given = (tier: FileTier | undefined): Rights => (tier === undefined ? {} : { tier })

const wisher = (wish: RightsWish): DeniedWish["by"] => {
  if (wish.flag !== undefined) return "flag"
  if (wish.recorded !== undefined) return "record"
  return wish.agent === undefined ? "configuration" : "agent"
}
