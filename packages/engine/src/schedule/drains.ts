/**
 * Who runs when, in this process: one chain of drains per busy session, one drain at a time in a chain, sessions in
 * parallel. It knows nothing of models or tools.
 *
 * - `wake` says that there may be work. Repeated wakes become one following drain.
 * - `run` asks for at least one provider attempt. It shares the current drain if that one is sure to make an attempt: a `run`
 *   asked for it, or it resumes work that waited. Otherwise it gets its own forced drain, so its failure reaches its caller.
 * - `interrupt` ends the current drain and everything demanded before. Demands that arrive during cleanup survive.
 * - A waiter that leaves changes nothing for the others.
 */
import { Failure } from "@meridian/protocol"
import { Cause, Deferred, Effect, Exit, Fiber, FiberSet, type Scope } from "effect"

export interface Drains {
  readonly wake: (session: string) => Effect.Effect<void>
  /**
   * Like `wake`, but the work begins at once, while the caller still waits for `until`. The chain stays open until the
   * caller has its answer and has had a chance to wait for the work.
   */
  readonly wakeBeside: <E>(session: string, until: Effect.Effect<void, E>) => Effect.Effect<void, E>
  readonly run: (session: string) => Effect.Effect<void, Failure>
  /** `commitBoundary` runs only when there is something to interrupt, and before the interrupt. */
  readonly interrupt: (
    session: string,
    commitBoundary: Effect.Effect<void, Failure>,
  ) => Effect.Effect<void, Failure>
  /** Completes when the session is idle here; fails with the first failure that happened while waiting. */
  readonly awaitIdle: (session: string) => Effect.Effect<void, Failure>
  readonly isActive: (session: string) => boolean
  readonly active: () => readonly string[]
  /** Interrupts every chain, waits for all cleanup, and refuses new work from then on. */
  readonly close: Effect.Effect<void>
}

export interface Demand {
  /** At least one provider attempt, even without new input. */
  readonly forced: boolean
  /** Called by a drain that only a wake started when it makes an attempt after all. Callers of `run` then share it. */
  readonly attempts: () => void
}

type Outcome = Exit.Exit<void, Failure>
type Run = Deferred.Deferred<void, Failure>

interface Waiter {
  readonly deferred: Deferred.Deferred<void, Failure>
  failure?: Cause.Cause<Failure>
}

interface Chain {
  /** Callers of `run` that the current drain answers. Empty when only a wake started it. */
  current?: Run[]
  next?: Run[]
  fiber?: Fiber.Fiber<void, Failure>
  /** Completes when the current drain has ended and all its callers have their answers. */
  settled?: Deferred.Deferred<void>
  stopping: boolean
  /** The current drain makes an attempt, whatever started it. */
  attempts: boolean
  /** Callers of `wakeBeside` without an answer yet. */
  readonly unanswered: Set<Deferred.Deferred<void>>
  /** How the last drain failed, for callers that arrive while the chain is held open. */
  failure?: Cause.Cause<Failure>
  readonly waiters: Set<Waiter>
  readonly ended: Deferred.Deferred<void>
}

/** The scope owns the fibers. `close` settles them first; the opener of the drains calls it before the scope closes. */
export const openDrains = <R>(
  drain: (session: string, demand: Demand) => Effect.Effect<void, Failure, R>,
): Effect.Effect<Drains, never, R | Scope.Scope> =>
  Effect.gen(function* () {
    const chains = new Map<string, Chain>()
    const start = yield* FiberSet.runtime(yield* FiberSet.make<void, Failure>())<R>()
    let closed = false

    const answer = (runs: readonly Run[], outcome: Outcome, session: string): void => {
      const told: Outcome =
        Exit.isFailure(outcome) && Cause.hasInterruptsOnly(outcome.cause)
          ? Exit.fail(new Failure("INTERRUPTED", { session }))
          : outcome
      for (const run of runs) Deferred.doneUnsafe(run, told)
    }

    const follow = (session: string, chain: Chain): Effect.Effect<void, never, R> =>
      Effect.gen(function* () {
        // A caller gets its answer first, so that it can wait for the work before that can fail.
        if (chain.unanswered.size === 0) yield* Effect.yieldNow
        for (;;) {
          if (chain.next === undefined && chain.unanswered.size > 0) yield* everyoneAnswered(chain)
          const runs = chain.next
          if (runs === undefined) break
          delete chain.next
          delete chain.failure
          chain.current = runs
          const settled = Deferred.makeUnsafe<void>()
          chain.settled = settled
          // Nothing yields until `fiber` is set, so an interrupt never finds a drain without its fiber.
          const attempts = (): void => {
            chain.attempts = true
            // A wake among them still gets its own drain afterwards.
            if (chain.next !== undefined) runs.push(...chain.next.splice(0))
          }
          const fiber = start(drain(session, { forced: runs.length > 0, attempts }))
          chain.fiber = fiber
          const outcome = yield* Fiber.await(fiber)
          delete chain.fiber
          delete chain.current
          chain.attempts = false
          if (Exit.isFailure(outcome) && !Cause.hasInterruptsOnly(outcome.cause)) {
            chain.failure = outcome.cause
            for (const waiter of chain.waiters) waiter.failure ??= outcome.cause
          }
          // The chain is idle before callers hear of it, because they may look.
          if (chain.next === undefined && (chain.unanswered.size === 0 || chain.stopping))
            retire(session, chain)
          answer(runs, outcome, session)
          Deferred.doneUnsafe(settled, Exit.void)
          // A drain that wakes its own session must not grow the stack.
          if (chain.next !== undefined) yield* Effect.yieldNow
        }
        retire(session, chain)
      })

    const everyoneAnswered = (chain: Chain): Effect.Effect<void> =>
      Effect.gen(function* () {
        for (const answered of chain.unanswered) yield* Deferred.await(answered)
        yield* Effect.yieldNow
      })

    const retire = (session: string, chain: Chain): void => {
      if (chains.get(session) === chain) chains.delete(session)
      for (const { deferred, failure } of chain.waiters)
        Deferred.doneUnsafe(deferred, failure === undefined ? Exit.void : Exit.failCause(failure))
      Deferred.doneUnsafe(chain.ended, Exit.void)
    }

    const demand = (session: string, runs: readonly Run[], answered?: Deferred.Deferred<void>): void => {
      const chain = chains.get(session)
      if (answered !== undefined) chain?.unanswered.add(answered)
      if (chain === undefined) {
        const started: Chain = {
          next: [...runs],
          stopping: false,
          attempts: false,
          unanswered: new Set(answered === undefined ? [] : [answered]),
          waiters: new Set(),
          ended: Deferred.makeUnsafe<void>(),
        }
        chains.set(session, started)
        start(follow(session, started))
      } else if (runs.length > 0 && isRunning(chain)) chain.current?.push(...runs)
      else chain.next = [...(chain.next ?? []), ...runs]
    }

    const stop = (session: string, chain: Chain): Effect.Effect<void> =>
      Effect.gen(function* () {
        const dropped = chain.next ?? []
        delete chain.next
        chain.stopping = true
        if (chain.fiber === undefined) retire(session, chain)
        else {
          const { fiber, settled } = chain
          yield* Fiber.interrupt(fiber)
          if (settled !== undefined) yield* Deferred.await(settled)
        }
        chain.stopping = false
        answer(dropped, Exit.interrupt(), session)
      })

    return {
      wake: (session) =>
        Effect.sync(() => {
          if (!closed) demand(session, [])
        }),
      wakeBeside: (session, until) =>
        Effect.gen(function* () {
          const answered = Deferred.makeUnsafe<void>()
          const waiting = yield* Effect.forkChild(until, { startImmediately: true })
          if (!closed) demand(session, [], answered)
          yield* Effect.ensuring(
            Fiber.join(waiting),
            Effect.sync(() => {
              chains.get(session)?.unanswered.delete(answered)
              Deferred.doneUnsafe(answered, Exit.void)
            }),
          )
        }),
      run: (session) =>
        Effect.suspend(() => {
          if (closed) return Effect.fail(new Failure("ENGINE_CLOSED"))
          const run = Deferred.makeUnsafe<void, Failure>()
          demand(session, [run])
          return Deferred.await(run)
        }),
      interrupt: (session, commitBoundary) =>
        Effect.suspend(() => {
          const chain = chains.get(session)
          if (chain === undefined) return Effect.void
          return Effect.uninterruptible(commitBoundary.pipe(Effect.andThen(stop(session, chain))))
        }),
      awaitIdle: (session) =>
        Effect.suspend(() => {
          const chain = chains.get(session)
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
      isActive: (session) => chains.has(session),
      active: () => [...chains.keys()],
      close: Effect.suspend(() => {
        closed = true
        return Effect.forEach(
          [...chains],
          ([session, chain]) => stop(session, chain).pipe(Effect.andThen(Deferred.await(chain.ended))),
          { concurrency: "unbounded", discard: true },
        )
      }),
    }
  })

/** A drain that makes an attempt is under way and is not being interrupted, so another caller may share it. */
const isRunning = ({ current, stopping, attempts }: Chain): boolean =>
  !stopping && current !== undefined && (attempts || current.length > 0)
