/** What a killed `run apply` has left in a checkout: finished if it was as good as done, otherwise taken back. */
import { asRunId, asSpaceId } from "../domain/identifier.ts"
import { recoverHeld } from "../repository/held-journal.ts"
import { readMove, forgetMove, type CheckoutMove } from "../repository/move-journal.ts"
import { recoverMove, type Recovered } from "../repository/recover-move.ts"
import type { Repository } from "../repository/repository.ts"
import type { WorktreesPlace } from "../repository/worktree-place.ts"
import type { HeldLock } from "../store/lock.ts"
import { spacePlace } from "../store/place.ts"
import { readRuns, recordWorktrees } from "../store/run-store.ts"
import type { State } from "./state.ts"

export interface RecoveredApply {
  readonly move: CheckoutMove
  readonly outcome: Recovered
}

/** Undefined if nothing was left. Called under the lock of applying, so no process is at it. */
export const recoverApply = async (
  repository: Repository,
  {
    place,
    lock,
    state,
    token,
  }: {
    readonly place: WorktreesPlace
    readonly lock: HeldLock
    readonly state: Pick<State, "now">
    readonly token: string
  },
): Promise<RecoveredApply | undefined> => {
  await recoverHeld({ ...repository.git, lock }, place, token)
  const move = readMove(place)
  if (move === undefined) return undefined
  const outcome = await recoverMove({ git: { ...repository.git, lock } }, move)
  if (outcome === "finished") await recordFinished(move, state)
  forgetMove(place)
  return { move, outcome }
}

/** A project that is gone keeps no log. */
const recordFinished = async (move: CheckoutMove, state: Pick<State, "now">): Promise<void> => {
  const [id, run] = [asSpaceId(move.space), asRunId(move.run)]
  if (id === undefined || run === undefined) return
  const space = spacePlace({ spaces: move.spaces }, id)
  const runs = readRuns(space, () => undefined)
  const path = runs.find((one) => one.id === run)?.worktree?.path
  const sharers = runs.filter(({ worktree }) => worktree?.path === path && worktree?.state === "open")
  if (path === undefined || sharers.length === 0) return
  await recordWorktrees(
    space,
    sharers.map((one) => ({
      event: "worktree",
      id: one.id,
      at: state.now(),
      what: "applied",
      from: move.head,
      commit: move.commit,
      staged: move.isStaged ? true : undefined,
    })),
  )
}
