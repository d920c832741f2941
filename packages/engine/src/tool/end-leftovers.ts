/**
 * Ends what a dead engine's tools left running. The next engine calls this before it settles such calls as interrupted,
 * with exactly the calls whose engine is known to be dead: the processes of a living engine carry the same kind of mark.
 */
import { endProcesses } from "./end-processes.ts"
import { TOOL_LIMITS } from "./limits.ts"
import { callMark, scopeMark, type CallIdentity } from "./process-mark.ts"
import { findProcesses } from "./process-table.ts"

export interface LeftoverRequest {
  readonly calls: readonly CallIdentity[]
  /** As given to bash: the store that recorded the calls. */
  readonly scope?: string
  readonly waitMs?: number
}

/** Kills the processes and waits until they are gone. Returns how many there were; 0 without /proc. */
export const endLeftovers = async (request: LeftoverRequest): Promise<number> => {
  if (request.calls.length === 0) return 0
  const marks = request.calls.map(callMark)
  const scope = request.scope === undefined ? undefined : scopeMark(request.scope)
  const groups = new Set<number>()
  return endProcesses({
    graceMs: 0,
    waitMs: request.waitMs ?? TOOL_LIMITS.leftoversMs,
    find: () =>
      findProcesses(async (row, environment) => {
        // Bash gives every call its own group. So one known process identifies the others in its group, even those that
        // cleared their environment.
        if (groups.has(row.group)) return true
        const variables = await environment()
        const belongs =
          marks.some((mark) => variables.has(mark)) && (scope === undefined || variables.has(scope))
        if (belongs) groups.add(row.group)
        return belongs
      }),
  })
}
