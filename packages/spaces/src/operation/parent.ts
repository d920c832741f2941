/**
 * The run or chat this command was started from. Variables can be lost or forged by the command's caller, but rows of
 * the state cannot. So both are read, and the stricter answer counts.
 */
import type { RunId, SpaceId } from "@meridian/protocol"

import { findChat } from "../domain/chat.ts"
import { depthOf } from "../domain/depth.ts"
import { asChatId, asRunId, asSpaceId } from "../domain/identifier.ts"
import type { Run } from "../domain/run.ts"
import { asTier, lowerTier, type PermissionTier } from "../domain/tier.ts"
import { readChats } from "../store/chat-store.ts"
import { spacePlace } from "../store/place.ts"
import { readRun } from "../store/run-store.ts"
import type { State } from "./state.ts"
import type { World } from "./world.ts"

/** Set for every harness that starts with a tier. */
export const TIER_VARIABLE = "MERIDIAN_TIER"

type Child = Pick<World, "env">

export const parentRun = ({ env }: Child): RunId | undefined => asRunId(env["MERIDIAN_PARENT_RUN_ID"])

/** How deep a run spawned from here would be. */
export const depthHere = (target: SpaceId | undefined, state: State, world: Child): number =>
  depthOf({
    variable: world.env["MERIDIAN_DEPTH"],
    parentDepth: rowOfParent(target, state, world)?.depth,
  })

/** The highest tier for anything started from here. Undefined for a person's own command. */
export const parentTier = (
  target: SpaceId | undefined,
  state: State,
  world: Child,
): PermissionTier | undefined => {
  const told = asTier(world.env[TIER_VARIABLE])
  const known = [told, tierOfRun(target, state, world), tierOfChat(state, world)]
  return known
    .filter((tier) => tier !== undefined)
    .reduce<PermissionTier | undefined>(
      (least, tier) => (least === undefined ? tier : lowerTier(least, tier)),
      undefined,
    )
}

/** The default folder of a run spawned from here: that of the run it is spawned from. */
export const placeHere = (target: SpaceId | undefined, state: State, world: Child): string => {
  const parent = rowOfParent(target, state, world)
  return parent?.worktree === undefined || parent.cwd === undefined ? state.place.project : parent.cwd
}

/** A parent whose row is lost could have had any tier, so we assume the lowest. */
const tierOfRun = (target: SpaceId | undefined, state: State, world: Child): PermissionTier | undefined =>
  parentRun(world) === undefined
    ? undefined
    : (asTier(rowOfParent(target, state, world)?.permission) ?? "read-only")

const tierOfChat = (state: State, { env }: Child): PermissionTier | undefined => {
  const space = asSpaceId(env["MERIDIAN_SPACE_ID"])
  const chat = asChatId(env["MERIDIAN_CHAT_ID"])
  if (space === undefined || chat === undefined) return undefined
  const records = readChats(spacePlace(state.place, space), () => undefined)
  return asTier(findChat(records, chat)?.tier)
}

/** The row in the space we run in or, without that variable, in the space of the new run. */
const rowOfParent = (target: SpaceId | undefined, state: State, world: Child): Run | undefined => {
  const run = parentRun(world)
  const rowIn = (space: SpaceId | undefined): Run | undefined =>
    run === undefined || space === undefined
      ? undefined
      : readRun(spacePlace(state.place, space), run, () => undefined)
  return rowIn(asSpaceId(world.env["MERIDIAN_SPACE_ID"])) ?? rowIn(target)
}
