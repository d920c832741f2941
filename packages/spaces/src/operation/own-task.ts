import { runId, spaceId } from "@meridian/protocol"

import { openPlace, spacePlace } from "../store/place.ts"
import { readRun } from "../store/run-store.ts"
import { taskOf } from "./run-look.ts"
import type { World } from "./world.ts"

/** The task of the run this process works for, found through its variables. Empty if unknown. */
export const ownTask = ({ env, cwd }: Pick<World, "env" | "cwd">): string => {
  try {
    const space = spacePlace(openPlace(env, cwd), spaceId(env["MERIDIAN_SPACE_ID"] ?? ""))
    const run = runId(env["MERIDIAN_PARENT_RUN_ID"] ?? "")
    return taskOf(space, { id: run, task: readRun(space, run, () => undefined)?.task })
  } catch {
    return ""
  }
}
