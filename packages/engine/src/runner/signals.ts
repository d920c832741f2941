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
    const current = store.reader.foreignVersion()
    if (current === version) return
    version = current
    for (const looks of watchers.values()) for (const look of looks) look()
    for (const look of foreign) look()
  }
  const adjustPolling = (): void => {
    const wanted = watchers.size + foreign.size > 0
    if (wanted && stopPolling === undefined) stopPolling = world.every(LIMITS.foreignPollMs, poll)
    if (!wanted && stopPolling !== undefined) {
      stopPolling()
      stopPolling = undefined
    }
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
      const leave = join(watchers, sessionID, look)
      adjustPolling()
      return () => {
        leave()
        adjustPolling()
      }
    },
    watchAll: (look) => {
      all.add(look)
      return () => void all.delete(look)
    },
    watchForeign: (look) => {
      foreign.add(look)
      adjustPolling()
      return () => {
        foreign.delete(look)
        adjustPolling()
      }
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
