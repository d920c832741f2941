import { expect, test } from "vitest"

import { decideRights, type RightsBounds, type RightsWish } from "./rights.ts"
import { FILE_TIERS, PERMISSION_TIERS, type PermissionTier } from "./tier.ts"

const theirs = (tier: "read-only" | "workspace-write" | "full-access") => ({ tier, isOwn: false })

test.each<[string, RightsWish, RightsBounds, PermissionTier | undefined, string | undefined]>([
  [
    "without a wish the configuration decides",
    { configured: "read-only" },
    { ceiling: "read-only" },
    "read-only",
    undefined,
  ],
  [
    "a flag takes precedence over everything",
    { flag: "danger", recorded: "read-only" },
    { ceiling: "read-only" },
    "danger",
    undefined,
  ],
  [
    "a profile lowers",
    { agent: theirs("read-only"), configured: "full-access" },
    { ceiling: "full-access" },
    "read-only",
    undefined,
  ],
  [
    "a profile is held to the ceiling",
    { agent: theirs("full-access"), configured: "read-only" },
    { ceiling: "workspace-write" },
    "workspace-write",
    "agent",
  ],
  [
    "the user's own profile raises rights",
    { agent: { tier: "full-access", isOwn: true } },
    { ceiling: "read-only" },
    "full-access",
    undefined,
  ],
  [
    "a record takes precedence over the user's own profile",
    { recorded: "danger", agent: { tier: "full-access", isOwn: true } },
    { ceiling: "read-only" },
    "read-only",
    "record",
  ],
  [
    "a recorded danger is never restored",
    { recorded: "danger" },
    { ceiling: "full-access" },
    "full-access",
    "record",
  ],
  ["without a given tier the harness asks", { recorded: "danger" }, {}, undefined, "record"],
  [
    "without a given tier the lowest may be wished for",
    { recorded: "read-only" },
    {},
    "read-only",
    undefined,
  ],
  [
    "a child is held to its parent, whatever the flag",
    { flag: "danger" },
    { parent: "read-only" },
    "read-only",
    "flag",
  ],
  [
    "a child without a wish has its parent's tier",
    {},
    { parent: "workspace-write" },
    "workspace-write",
    undefined,
  ],
])("%s", (_name, wish, bounds, tier, by) => {
  const rights = decideRights(wish, bounds)
  expect([rights.tier, rights.denied?.by]).toEqual([tier, by])
})

test("no wish of a file is ever above the ceiling, and nothing is ever above its parent", () => {
  const tiers = [undefined, ...PERMISSION_TIERS]
  const files = [undefined, ...FILE_TIERS]
  const rank = (tier: PermissionTier | undefined): number =>
    tier === undefined ? -1 : PERMISSION_TIERS.indexOf(tier)
  const wishes = tiers.flatMap((recorded) =>
    files.map((agent) => ({ recorded, agent: agent === undefined ? undefined : theirs(agent) })),
  )
  for (const ceiling of files)
    for (const wish of wishes) {
      const { tier } = decideRights({ ...wish, configured: ceiling }, { ceiling })
      expect(rank(tier)).toBeLessThanOrEqual(Math.max(0, rank(ceiling)))
      for (const parent of PERMISSION_TIERS)
        for (const flag of tiers) {
          const child = decideRights({ ...wish, flag, configured: ceiling }, { ceiling, parent })
          expect(rank(child.tier)).toBeLessThanOrEqual(rank(parent))
        }
    }
})
