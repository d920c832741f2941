/**
 * Processes that can die inside this process, on a clock that moves only on command. A machine starts lives. Each life is
 * what one engine takes for its process: identity, clock, chance, names, and a tap on every commit. A life that dies loses
 * its connection at once, as if the system took it. A frozen life keeps its connection and may come back late. A silent
 * life runs, but none of its timers fires.
 */
import { fdatasyncSync } from "node:fs"
import type { DatabaseSync } from "node:sqlite"

import type { Engine, EngineOptions } from "@meridian/engine"
import { createMemoryDatabase, memoryStore, type MemoryDatabase } from "@meridian/testkit/memory-store"
import { Clock, Context, Effect, Layer, Random, Scope } from "effect"
import { TestClock } from "effect/testing"

import type { EngineInternals } from "../packages/engine/src/engine.ts"
import { openEngineWith } from "../packages/engine/src/open-engine.ts"
import { Background } from "../packages/engine/src/port/time.ts"

export class Death extends Error {}

export interface Life {
  /** The internals an engine of this life opens with. */
  readonly internals: (options: EngineOptions) => EngineInternals
  /** Effect's own references: this life's clock and its chance. */
  readonly references: Context.Context<never>
  readonly open: (options: EngineOptions) => Promise<Engine>
  readonly isDead: () => boolean
  readonly died: Promise<void>
  /** Points passed so far. */
  readonly points: () => number
  /** A place where this life may die. The tap calls it, and so do tools around their effects. */
  readonly point: (name: string) => void
  readonly die: () => void
  /** Other lives take this one for gone, but it goes on. From now on, every event it writes is counted. */
  readonly freeze: () => void
  readonly writtenAfterFreeze: () => number
  /** From now on, none of its timers fires. */
  readonly fallSilent: () => void
  /** For code that a dead process would not reach: never settles once dead. */
  readonly reach: () => Promise<void>
}

/** Its time passes on its own until it is disposed of, unless it stands still. */
export interface Machine extends Disposable {
  /** What all lives share, unless they share a file. */
  readonly memory: MemoryDatabase | undefined
  readonly start: (dieAt?: number) => Life
  /** The number of lives started so far. */
  readonly lives: () => number
  /** Moves the wall clock, also backwards. No timer fires. */
  readonly setClock: (now: number) => void
  /** Lets time pass for all lives, and lets the work it wakes run. */
  readonly advance: (ms: number) => Promise<void>
  /** Lets time pass until this settles. */
  readonly until: <A>(work: Promise<A>) => Promise<A>
}

export interface MachineOptions {
  readonly chance?: () => number
  readonly standsStill?: boolean
  /** "memory": all lives share a store that is slow, unordered and unreliable on purpose. */
  readonly store?: "sqlite" | "memory"
  /** The longest time an answer of the memory store takes; 0 where time stands still. */
  readonly storeDelayMs?: number
  /** How often a call of the memory store fails. */
  readonly failures?: () => number
}

export const createMachine = (how: MachineOptions = {}): Machine => {
  const {
    chance = () => 0.5,
    standsStill = false,
    store = "sqlite",
    storeDelayMs = 3,
    failures = () => 0,
  } = how
  const memory = store === "memory" ? createMemoryDatabase() : undefined
  const gone = new Set<number>()
  let pids = 0
  let names = 0
  let wallOffset = 1_700_000_000_000
  const clocks = Effect.runSync(
    Layer.buildWithScope(TestClock.layer({ warningDelay: "1 day" }), Scope.makeUnsafe()),
  )
  const run = Effect.runPromiseWith(clocks)
  const testClock = Effect.runSyncWith(clocks)(TestClock.testClockWith(Effect.succeed))

  const advance: Machine["advance"] = async (ms) => {
    await turns(4)
    await run(TestClock.adjust(ms))
    await turns(4)
  }

  const until: Machine["until"] = async (work) => {
    const state = { over: false }
    void Promise.allSettled([work]).then(() => (state.over = true))
    await turns(4)
    while (!state.over) await advance(STEP_MS)
    return work
  }

  const time = { flows: !standsStill }
  const flow = async (): Promise<void> => {
    while (time.flows) await advance(STEP_MS)
  }
  void flow()

  const start: Machine["start"] = (dieAt = Number.POSITIVE_INFINITY) => {
    const pid = ++pids
    let points = 0
    let dead = false
    let silent = false
    let frozen = false
    let late = 0
    let connection: DatabaseSync | undefined
    const died = Promise.withResolvers<void>()

    const die = (): void => {
      if (dead) return
      dead = true
      gone.add(pid)
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
    const wall = (): number => testClock.currentTimeMillisUnsafe() + wallOffset
    const clock: Clock.Clock = {
      ...testClock,
      currentTimeMillisUnsafe: wall,
      currentTimeMillis: Effect.sync(wall),
      sleep: (duration) =>
        Effect.andThen(
          testClock.sleep(duration),
          Effect.suspend(() => (dead || silent ? Effect.never : Effect.void)),
        ),
    }
    const references = clocks.pipe(
      Context.add(Clock.Clock, clock),
      Context.add(Background, (same) => same),
      Context.add(Random.Random, {
        nextDoubleUnsafe: chance,
        nextIntUnsafe: () => Math.floor(chance() * Number.MAX_SAFE_INTEGER),
      }),
    )
    const inMemory = ({ limits }: EngineOptions, database: MemoryDatabase): EngineInternals => ({
      store: memoryStore({
        database,
        chance,
        failures,
        delayMs: storeDelayMs,
        leaseMs: limits?.leaseMs ?? 8_000,
        isGone: () => gone.has(pid),
        tap: point,
        wrote: (count) => {
          if (frozen) late += count
        },
      }),
    })
    const internals: Life["internals"] = (options) => ({
      // Its tool processes die with it.
      lostProcesses: { end: () => Effect.void },
      ids: { next: (prefix) => `${prefix}${String(++names).padStart(8, "0")}` },
      ...(memory === undefined ? {} : inMemory(options, memory)),
      sqlite: {
        processes: {
          me: { pid, started: "life", boot: "machine" },
          isGone: (identity) => gone.has(identity.pid),
        },
        // In place, so that no thread of the system decides the order of events.
        flushFile: { beside: async (descriptor) => fdatasyncSync(descriptor), inPlace: fdatasyncSync },
        tap: (_point, raw) => {
          connection = raw
          point()
        },
      },
    })

    return {
      internals,
      references,
      open: (options) => openEngineWith({ undo: false, ...options }, internals(options), references),
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
        if (!frozen || connection?.isOpen !== true) return late
        return Number(connection.prepare("select count(*) as count from temp.late").get()?.["count"])
      },
      fallSilent: () => {
        silent = true
      },
      reach: () => (dead ? new Promise<never>(() => undefined) : Promise.resolve()),
    }
  }

  return {
    memory,
    start,
    lives: () => pids,
    setClock: (to) => {
      wallOffset = to - testClock.currentTimeMillisUnsafe()
    },
    advance,
    until,
    [Symbol.dispose]: () => {
      time.flows = false
    },
  }
}

const STEP_MS = 10

/** After a few turns of the event loop, everything due has happened. */
const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
