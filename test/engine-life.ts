/**
 * Processes that can die inside this one. A machine starts lives; each life is what one engine takes for its process:
 * its own identity, clock and chance, and a tap on every commit. A life that dies loses its connection at once, as the
 * system would take it; one that is frozen keeps it and may come back late.
 */
import type { DatabaseSync } from "node:sqlite"

import type { World } from "../packages/engine/src/port/world.ts"
import type { Tap } from "../packages/engine/src/store/database.ts"

export class Death extends Error {}

export interface Life {
  readonly world: World
  readonly tap: Tap
  readonly isDead: () => boolean
  readonly died: Promise<void>
  /** Points passed so far. */
  readonly points: () => number
  /** A place where this life may die; called by the tap, and by tools around what they do. */
  readonly point: (name: string) => void
  readonly die: () => void
  /** Others take it for gone, yet it goes on. From now on every event it writes is counted. */
  readonly freeze: () => void
  readonly writtenAfterFreeze: () => number
  /** For code that a dead process would not have reached: never settles once dead. */
  readonly reach: () => Promise<void>
  /** Runs what the engine does from time to time. */
  readonly tick: () => void
}

export interface Machine {
  readonly start: (dieAt?: number) => Life
  /** How many were started so far. */
  readonly lives: () => number
  /** Moves the wall clock, also backwards. */
  readonly setClock: (now: number) => void
  readonly advance: (ms: number) => void
}

export const createMachine = (chance: () => number = () => 0.5): Machine => {
  const gone = new Set<number>()
  let pids = 0
  let names = 0
  let now = 1_700_000_000_000
  let monotonic = 0

  const start: Machine["start"] = (dieAt = Number.POSITIVE_INFINITY) => {
    const pid = ++pids
    const ticks = new Set<() => void>()
    let points = 0
    let dead = false
    let connection: DatabaseSync | undefined
    let frozen = false
    const died = Promise.withResolvers<void>()

    const die = (): void => {
      if (dead) return
      dead = true
      gone.add(pid)
      ticks.clear()
      died.resolve()
      if (connection?.isOpen === true) connection.close()
    }
    const point = (): void => {
      if (dead) throw new Death("dead")
      points += 1
      if (points < dieAt) return
      die()
      throw new Death("dies here")
    }

    return {
      world: {
        now: () => now,
        monotonic: () => monotonic,
        chance,
        id: (prefix) => `${prefix}${String(++names).padStart(8, "0")}`,
        every: (_ms, tick) => {
          ticks.add(tick)
          return () => ticks.delete(tick)
        },
        identity: () => ({ pid, started: "life", boot: "machine" }),
        isGone: (identity) => gone.has(identity.pid),
      },
      tap: (_point, raw) => {
        connection = raw
        point()
      },
      isDead: () => dead,
      died: died.promise,
      points: () => points,
      point,
      die,
      freeze: () => {
        frozen = true
        gone.add(pid)
        connection?.exec(
          `create temp table late (id integer);
           create temp trigger late after insert on main.event begin insert into late values (new.id); end`,
        )
      },
      writtenAfterFreeze: () => {
        if (!frozen || connection?.isOpen !== true) return 0
        return Number(connection.prepare("select count(*) as count from temp.late").get()?.["count"])
      },
      reach: () => (dead ? new Promise<never>(() => undefined) : Promise.resolve()),
      tick: () => {
        try {
          for (const tick of ticks) tick()
        } catch (cause) {
          if (!dead) throw cause
        }
      },
    }
  }

  return {
    start,
    lives: () => pids,
    setClock: (to) => {
      now = to
    },
    advance: (ms) => {
      now += ms
      monotonic += ms
    },
  }
}
