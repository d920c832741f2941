/** The children of a session, for code that waits for it or answers its questions: they work for the same person. */
import type { Engine, SessionEvent } from "@meridian/engine"
import { Failure } from "@meridian/protocol"

/** Background work that has not reported yet, according to the events of the session. */
export const openBackground = () => {
  const working = new Set<string>()
  let next = Promise.withResolvers<void>()
  return {
    push: (event: SessionEvent): void => {
      if (event.type === "session.next.task.started.1" && event.data.background === true)
        working.add(event.data.sessionID)
      if (event.type !== "session.next.task.ended.1" || !working.delete(event.data.sessionID)) return
      next.resolve()
      next = Promise.withResolvers<void>()
    },
    /** Resolves when one more has reported. Undefined if there is none. */
    next: (): Promise<void> | undefined => (working.size === 0 ? undefined : next.promise),
  }
}

/** Calls back for every session that works for this one, at any depth, whenever it changes. Ends with the signal. */
export const followChildren = async (
  { sessions }: Engine,
  sessionID: string,
  { signal, changed }: { readonly signal: AbortSignal; readonly changed: (child: string) => Promise<void> },
): Promise<void> => {
  const known = new Map<string, boolean>()
  const isOurs = async (id: string): Promise<boolean> => {
    const found = known.get(id)
    if (found !== undefined) return found
    const parent = (await sessions.get(id)).parent?.sessionID
    const ours = parent === sessionID || (parent !== undefined && (await isOurs(parent)))
    known.set(id, ours)
    return ours
  }
  for await (const { sessions: told } of sessions.changes({ signal }))
    for (const id of told) {
      try {
        if (id !== sessionID && (await isOurs(id))) await changed(id)
      } catch (error) {
        // The session was deleted, or the engine closes.
        if (!(error instanceof Failure)) throw error
      }
    }
}
