/**
 * Which parts of a recorded chat may steer a launch that continues it. A record that this user's Meridian did not
 * write steers nothing.
 */
import { realpathSync } from "node:fs"

import { isInside } from "@meridian/continuity/files"
import type { SpaceId } from "@meridian/protocol"

import type { ChatRecord } from "../domain/chat.ts"
import { withoutRights } from "../harness/rights-flags.ts"
import type { HarnessId } from "../port/harness.ts"
import { isSealed } from "./seal.ts"
import type { State } from "./state.ts"
import type { World } from "./world.ts"

export interface Believed {
  /** Flags for the harness, except those that widen rights. */
  readonly params: readonly string[]
  /** Undefined: the project. */
  readonly cwd: string | undefined
}

export const believeRecord = (
  record: ChatRecord,
  {
    harness,
    space,
    state,
    world,
  }: { readonly harness: HarnessId; readonly space: SpaceId; readonly state: State; readonly world: World },
): Believed => {
  const { chatId: chat, cwd } = record
  if (isSealed(record, space, state, world)) {
    const { params, dropped } = withoutRights(harness, record.params)
    if (dropped.length > 0) world.warn("RIGHTS_NOT_REPEATED", { chat, flags: dropped.join(", ") })
    return { params, cwd }
  }
  const isHere = cwd === undefined || liesInside(state.place.project, cwd)
  const left = [...(record.params.length === 0 ? [] : ["its flags"]), ...(isHere ? [] : ["its directory"])]
  if (left.length > 0) world.warn("RECORD_UNSEALED", { chat, left: left.join(" and ") })
  return { params: [], cwd: isHere ? cwd : undefined }
}

const liesInside = (project: string, path: string): boolean => {
  try {
    return isInside(realpathSync(project), realpathSync(path))
  } catch {
    // The folder is gone. The launch there reports that.
    return isInside(project, path)
  }
}
