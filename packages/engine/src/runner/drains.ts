/**
 * Who runs when, in this process: one chain of drains per busy session, one drain at a time in it, sessions side by side.
 * Knows nothing of models or tools.
 *
 * - `wake` says that there may be work; repeated wakes become one following drain.
 * - `run` asks for at least one provider attempt. It shares the current drain when that one was asked for too; behind a
 *   drain that only a wake started it gets a forced one of its own, so its failure reaches its caller.
 * - `interrupt` ends the current drain and everything demanded before; what is demanded while the cleanup runs survives.
 * - A waiter that leaves takes nothing with it.
 */
import { Failure } from "@meridian/protocol"
import { Cause, Deferred, Effect, Exit, Fiber } from "effect"

export interface Drains {
  /** `told`: done when whoever asked has been answered. The work may start before, but it is not over before. */
  readonly wake: (sessionID: string, told?: Promise<unknown>) => void
  readonly run: (sessionID: string) => Effect.Effect<void, Failure>
  /** `commitBoundary` is called only when there is something to interrupt, before it is. */
  readonly interrupt: (
    sessionID: string,
    commitBoundary: Effect.Effect<void, Failure>,
  ) => Effect.Effect<void, Failure>
  /** Resolves when the session is idle here; fails with the first failure that happened while waiting. */
  readonly awaitIdle: (sessionID: string) => Effect.Effect<void, Failure>
  readonly isActive: (sessionID: string) => boolean
  readonly active: () => readonly string[]
  /** Interrupts every chain and waits for all cleanup; refuses new work from now on. */
  readonly close: Effect.Effect<void>
}

export interface Demand {
  /** At least one provider attempt, also without new input. */
  readonly forced: boolean
}

type Outcome = Exit.Exit<void, Failure>

interface Waiter {
  readonly deferred: Deferred.Deferred<void, Failure>
  failure?: Cause.Cause<Failure>
}

interface Chain {
  /** Callers of `run` the current drain answers to; undefined when only a wake started it. */
  current?: Deferred.Deferred<void, Failure>[]
  next?: Deferred.Deferred<void, Failure>[]
  fiber?: Fiber.Fiber<void, Failure>
  /** Done when the current drain has ended and everyone it answers to was told. */
  settled?: Deferred.Deferred<void>
  stopping: boolean
  /** Those who asked and have not been answered yet: they must be able to wait for what they asked for. */
  readonly untold: Set<Promise<unknown>>
  /** How the last drain failed, for who comes while its end is held back. */
  failure?: Cause.Cause<Failure>
  readonly waiters: Set<Waiter>
  readonly ended: Deferred.Deferred<void>
}

export const createDrains = (options: {
  readonly drain: (sessionID: string, demand: Demand) => Effect.Effect<void, Failure>
}): Drains => {
  const { drain } = options
  const chains = new Map<string, Chain>()
  let closed = false

  const answer = (runs: readonly Deferred.Deferred<void, Failure>[], outcome: Outcome, sessionID: string) => {
    const told: Outcome =
      Exit.isFailure(outcome) && Cause.hasInterruptsOnly(outcome.cause)
        ? Exit.fail(new Failure("INTERRUPTED", { session: sessionID }))
        : outcome
    for (const run of runs) Deferred.doneUnsafe(run, told)
  }

  const follow = (sessionID: string, chain: Chain) =>
    Effect.gen(function* () {
      // Whoever asked can wait for the work before it can fail: they are waited for at its end, or it begins later.
      if (chain.untold.size === 0) yield* Effect.yieldNow
      for (;;) {
        if (chain.untold.size > 0 && chain.next === undefined) yield* everyoneTold(chain)
        const runs = chain.next
        if (runs === undefined) break
        delete chain.next
        delete chain.failure
        chain.current = runs
        const settled = Deferred.makeUnsafe<void>()
        chain.settled = settled
        // In one step, so that an interrupt never finds a drain without its fiber; `stop` and `close` own it.
        const fiber = Effect.runFork(drain(sessionID, { forced: runs.length > 0 }))
        chain.fiber = fiber
        const outcome = yield* Fiber.await(fiber)
        delete chain.fiber
        delete chain.current
        if (Exit.isFailure(outcome) && !Cause.hasInterruptsOnly(outcome.cause)) {
          chain.failure = outcome.cause
          for (const waiter of chain.waiters) waiter.failure ??= outcome.cause
        }
        // Idle before anyone hears of it: whoever is told may look.
        if (chain.next === undefined && (chain.untold.size === 0 || chain.stopping)) retire(sessionID, chain)
        answer(runs, outcome, sessionID)
        Deferred.doneUnsafe(settled, Exit.void)
        // A drain that wakes its own session must not grow the stack.
        if (chain.next !== undefined) yield* Effect.yieldNow
      }
      retire(sessionID, chain)
    })

  const everyoneTold = (chain: Chain) => Effect.promise(() => Promise.all(chain.untold))

  /** Answered, and with a moment to wait for the work. */
  const hold = (chain: Chain, told: Promise<unknown>): void => {
    const heard: Promise<boolean> = told.then(nextTurn, nextTurn).then(() => chain.untold.delete(heard))
    chain.untold.add(heard)
  }

  const retire = (sessionID: string, chain: Chain): void => {
    if (chains.get(sessionID) === chain) chains.delete(sessionID)
    for (const waiter of chain.waiters)
      Deferred.doneUnsafe(
        waiter.deferred,
        waiter.failure === undefined ? Exit.void : Exit.failCause(waiter.failure),
      )
    Deferred.doneUnsafe(chain.ended, Exit.void)
  }

  const demand = (
    sessionID: string,
    runs: readonly Deferred.Deferred<void, Failure>[],
    told?: Promise<unknown>,
  ): void => {
    const chain = chains.get(sessionID)
    if (chain !== undefined) {
      if (told !== undefined) hold(chain, told)
      if (runs.length > 0 && !chain.stopping && chain.current !== undefined && chain.current.length > 0)
        chain.current.push(...runs)
      else chain.next = [...(chain.next ?? []), ...runs]
      return
    }
    const started: Chain = {
      next: [...runs],
      stopping: false,
      untold: new Set(),
      waiters: new Set(),
      ended: Deferred.makeUnsafe<void>(),
    }
    chains.set(sessionID, started)
    if (told !== undefined) hold(started, told)
    // Owned by `close`, which waits for its end: a scope would interrupt the chain before it could settle.
    Effect.runFork(follow(sessionID, started))
  }

  const stop = (sessionID: string, chain: Chain) =>
    Effect.gen(function* () {
      const dropped = chain.next ?? []
      delete chain.next
      chain.stopping = true
      if (chain.fiber === undefined) retire(sessionID, chain)
      else {
        const { fiber, settled } = chain
        yield* Fiber.interrupt(fiber)
        if (settled !== undefined) yield* Deferred.await(settled)
      }
      chain.stopping = false
      answer(dropped, Exit.interrupt(), sessionID)
    })

  return {
    wake: (sessionID, told) => {
      if (!closed) demand(sessionID, [], told)
    },
    run: (sessionID) =>
      Effect.suspend(() => {
        if (closed) return Effect.fail(new Failure("ENGINE_CLOSED"))
        const run = Deferred.makeUnsafe<void, Failure>()
        demand(sessionID, [run])
        return Deferred.await(run)
      }),
    interrupt: (sessionID, commitBoundary) =>
      Effect.suspend(() => {
        const chain = chains.get(sessionID)
        if (chain === undefined) return Effect.void
        return Effect.uninterruptible(commitBoundary.pipe(Effect.andThen(stop(sessionID, chain))))
      }),
    awaitIdle: (sessionID) =>
      Effect.suspend(() => {
        const chain = chains.get(sessionID)
        if (chain === undefined) return Effect.void
        const waiter: Waiter = {
          deferred: Deferred.makeUnsafe<void, Failure>(),
          ...(chain.failure === undefined ? {} : { failure: chain.failure }),
        }
        chain.waiters.add(waiter)
        return Deferred.await(waiter.deferred).pipe(
          Effect.ensuring(Effect.sync(() => chain.waiters.delete(waiter))),
        )
      }),
    isActive: (sessionID) => chains.has(sessionID),
    active: () => [...chains.keys()],
    close: Effect.suspend(() => {
      closed = true
      return Effect.forEach(
        [...chains],
        ([sessionID, chain]) => stop(sessionID, chain).pipe(Effect.andThen(Deferred.await(chain.ended))),
        { concurrency: "unbounded", discard: true },
      )
    }),
  }
}

/** The next turn of the event loop: everything that is due now has happened by then. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
