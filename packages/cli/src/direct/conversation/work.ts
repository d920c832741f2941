/**
 * The work of a session as this terminal follows it: demanded, watched until nothing of it is left, and reported when
 * its last event was shown. How it looks is decided elsewhere.
 */
import type { Engine } from "@meridian/engine"
import type { Failure } from "@meridian/protocol"
import { settled } from "@meridian/server"

export interface Work {
  readonly isWorking: () => boolean
  /** It was asked to stop, but has not stopped yet. */
  readonly isStopping: () => boolean
  readonly beginStopping: () => void
  /**
   * One watcher at a time. Work demanded while it watches is watched too. `asked` is other work, which may begin a
   * moment later; its failure goes to its caller.
   */
  readonly watch: (asked?: Promise<unknown>) => Promise<void>
}

export interface WorkOptions {
  readonly sessions: Pick<Engine["sessions"], "get" | "inputs" | "wait">
  readonly sessionID: string
  /** Resolves when the events up to this one were shown. */
  readonly shown: (seq: number) => Promise<void>
  readonly onBegin: () => void
  readonly onSettled: (ending: Settled) => void
}

export interface Settled {
  readonly failure: Failure | undefined
  /** How many inputs no turn has taken up. */
  readonly inputs: number
}

export const openWork = ({ sessions, sessionID, shown, onBegin, onSettled }: WorkOptions): Work => {
  let working = false
  let demanded = false
  let stopping = false

  return {
    isWorking: () => working,
    isStopping: () => stopping,
    beginStopping: () => {
      stopping = true
    },
    watch: async (asked = Promise.resolve()) => {
      demanded = true
      if (working) return
      working = true
      onBegin()
      let failure: Failure | undefined
      while (demanded) {
        demanded = false
        await asked.catch(() => undefined)
        failure = await settled(sessions, sessionID)
        // Inside the loop: work demanded while the last events are shown would otherwise have no watcher.
        await shown((await sessions.get(sessionID)).seq)
      }
      working = false
      stopping = false
      onSettled({ failure, inputs: (await sessions.inputs(sessionID)).length })
    },
  }
}
