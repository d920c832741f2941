/** The work of a run, for applying it or throwing it away. */
import { spawn } from "node:child_process"

import { Failure } from "@meridian/protocol"

import { isEnded, type Run } from "../domain/run.ts"
import type { WorktreeEventRecord } from "../domain/worktree-record.ts"
import type { WorktreeState } from "../domain/worktree.ts"
import { callGit } from "../repository/git.ts"
import { changesRef, dropWorktree, trashOf } from "../repository/make-worktree.ts"
import type { Repository } from "../repository/repository.ts"
import { worktreesPlace } from "../repository/worktree-place.ts"
import type { SpacePlace } from "../store/place.ts"
import { leftWorking, settleRuns } from "../store/run-liveness.ts"
import { readRuns, recordWorktrees } from "../store/run-store.ts"
import type { State } from "./state.ts"
import type { World } from "./world.ts"

export interface RunWork {
  readonly run: Run
  readonly worktree: WorktreeState
  /** Every run that worked in this worktree, including this one. */
  readonly sharers: readonly Run[]
}

/** Throws RUN_WITHOUT_WORKTREE, RUN_ALREADY_APPLIED, and RUN_ALIVE while a process works there. */
export const requireWork = async (
  space: SpacePlace,
  run: Run,
  state: State,
  allowed: readonly WorktreeState["state"][] = ["open"],
): Promise<RunWork> => {
  const { worktree } = run
  if (worktree === undefined) throw new Failure("RUN_WITHOUT_WORKTREE", { run: run.id, cwd: run.cwd ?? "" })
  if (!allowed.includes(worktree.state))
    throw new Failure("RUN_ALREADY_APPLIED", { run: run.id, state: worktree.state })
  if (worktree.isRemoved)
    throw new Failure("WORKTREE_GONE", {
      run: run.id,
      why: "the run ended before it had begun to work there",
      next: `'meridian run show ${run.id}' shows why; spawn it again.`,
    })
  const all = await settleRuns(space, readRuns(space, state.onDamage), state)
  const sharers = all.filter((other) => other.worktree?.path === worktree.path && !other.worktree.isRemoved)
  const busy = sharers.find((other) => !isEnded(other))
  if (busy !== undefined)
    throw new Failure("RUN_ALIVE", { run: busy.id, status: busy.status, ...leftWorking(space, busy) })
  return { run, worktree, sharers }
}

type Happened = Omit<WorktreeEventRecord, "event" | "id" | "at">

/** Records the same events for every run that worked there. */
export const recordForAll = (
  space: SpacePlace,
  { sharers }: RunWork,
  happened: readonly Happened[],
  state: State,
): Promise<void> =>
  recordWorktrees(
    space,
    sharers.flatMap(({ id }) =>
      happened.map((one) => ({ event: "worktree", id, at: state.now(), ...one }) as const),
    ),
  )

/** Removes folder and branch. The files are deleted in the background. Called under the lock of the repository. */
export const removeWork = async (
  { worktree }: Pick<RunWork, "worktree">,
  repository: Repository,
  world: Pick<World, "env" | "uuid">,
): Promise<void> => {
  const place = worktreesPlace(world.env, repository.commonDir)
  dropWorktree({ path: worktree.path, commonDir: repository.commonDir, place, uuid: world.uuid })
  const refs = [`refs/heads/${worktree.branch}`, changesRef(worktree)]
  await callGit(repository.git, ["update-ref", "--stdin"], {
    input: refs.map((ref) => `delete ${ref}\n`).join(""),
  })
  emptyTrash(trashOf(place))
}

export const emptyTrash = (paths: readonly string[]): void => {
  if (paths.length === 0) return
  const child = spawn("rm", ["-rf", "--", ...paths], { detached: true, stdio: "ignore" })
  child.once("error", () => undefined)
  child.unref()
}
