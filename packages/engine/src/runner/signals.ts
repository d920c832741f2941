/**
 * Who wants to know that something happened. Signals carry nothing: the rows are the truth, a signal only says "look
 * again", so repeated ones coalesce and none can be lost. Commits of other processes are noticed by SQLite's data version,
 * polled only while somebody here is interested.
 */
import type { LiveEvent } from "@meridian/protocol"

import { LIMITS } from "../domain/limits.ts"
import type { World } from "../port/world.ts"
import type { Store } from "../store/store.ts"

export interface Signals {
  /** `look` is called after commits that may concern the session. Returns how to stop. */
  readonly watch: (sessionID: string, look: () => void) => () => void
  /** `look` is called after every commit of this process, with the session it is about. */
  readonly watchAll: (look: (sessionID: string) => void) => () => void
  /** `look` is called after commits of other processes only. */
  readonly watchForeign: (look: () => void) => () => void
  readonly publishLive: (sessionID: string, event: LiveEvent) => void
  readonly watchLive: (sessionID: string, receive: (event: LiveEvent) => void) => () => void
  readonly close: () => void
}

export const createSignals = (options: {
  readonly store: {
    readonly reader: Pick<Store["reader"], "foreignVersion">
    readonly log: Pick<Store["log"], "onCommit">
  }
  readonly world: Pick<World, "every">
}): Signals => {
  const { store, world } = options
  const watchers = new Map<string, Set<() => void>>()
  const all = new Set<(sessionID: string) => void>()
  const foreign = new Set<() => void>()
  const live = new Map<string, Set<(event: LiveEvent) => void>>()
  let stopPolling: (() => void) | undefined
  let version = store.reader.foreignVersion()

  const poll = (): void => {
    // Stopped by the tick that finds nobody, not by who leaves: the next turn is often there before it.
    if (watchers.size + foreign.size === 0) {
      stopPolling?.()
      stopPolling = undefined
      return
    }
    const current = foreignVersion()
    if (current === undefined || current === version) return
    version = current
    for (const looks of watchers.values()) for (const look of looks) look()
    for (const look of foreign) look()
  }
  /** A database that cannot be read now is asked again at the next tick; a timer has nobody to tell. */
  const foreignVersion = (): number | undefined => {
    try {
      return store.reader.foreignVersion()
    } catch {
      return undefined
    }
  }
  const startPolling = (): void => {
    stopPolling ??= world.every(LIMITS.foreignPollMs, poll)
  }
  const join = <Listener>(map: Map<string, Set<Listener>>, key: string, listener: Listener) => {
    const listeners = map.get(key) ?? new Set()
    map.set(key, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) map.delete(key)
    }
  }

  const stopListening = store.log.onCommit((sessionID) => {
    for (const look of watchers.get(sessionID) ?? []) look()
    for (const look of all) look(sessionID)
  })

  return {
    watch: (sessionID, look) => {
      startPolling()
      return join(watchers, sessionID, look)
    },
    watchAll: (look) => {
      all.add(look)
      return () => void all.delete(look)
    },
    watchForeign: (look) => {
      foreign.add(look)
      startPolling()
      return () => foreign.delete(look)
    },
    publishLive: (sessionID, event) => {
      for (const receive of live.get(sessionID) ?? []) receive(event)
    },
    watchLive: (sessionID, receive) => join(live, sessionID, receive),
    close: () => {
      stopListening()
      stopPolling?.()
      watchers.clear()
      all.clear()
      foreign.clear()
      live.clear()
    },
  }
}
