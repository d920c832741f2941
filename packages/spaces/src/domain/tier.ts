/** What a run or a chat may touch, from least to most. */
export const PERMISSION_TIERS = ["read-only", "workspace-write", "full-access", "danger"] as const
export type PermissionTier = (typeof PERMISSION_TIERS)[number]

/** The tiers a file may name. `danger` needs a person's own flag, every time. */
export const FILE_TIERS = ["read-only", "workspace-write", "full-access"] as const
export type FileTier = (typeof FILE_TIERS)[number]

export const asTier = (text: string | undefined): PermissionTier | undefined =>
  PERMISSION_TIERS.find((tier) => tier === text)

export const asFileTier = (value: unknown): FileTier | undefined => FILE_TIERS.find((tier) => tier === value)

export const isAbove = (left: PermissionTier, right: PermissionTier): boolean =>
  PERMISSION_TIERS.indexOf(left) > PERMISSION_TIERS.indexOf(right)

export const lowerTier = <Tier extends PermissionTier>(left: Tier, right: Tier): Tier =>
  isAbove(left, right) ? right : left

/** The highest of the given tiers. */
export const highestTier = (...tiers: readonly (FileTier | undefined)[]): FileTier | undefined =>
  FILE_TIERS.findLast((tier) => tiers.includes(tier))
