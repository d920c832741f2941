/**
 * Tells watchers that something happened. A signal carries nothing: the log is the truth, and a signal only says "look
 * again". So repeated signals become one, and none can be lost. Live fragments are the exception: they go to connected
 * readers and are not in the log.
 */
import type { LiveEvent } from "@meridian/protocol"
import { Context, Effect, Latch, Layer, Stream, type Scope } from "effect"

import { LIMITS } from "../domain/limits.ts"
import { Store } from "../port/store.ts"
import { inBackground } from "../port/time.ts"

/** One watcher's memory of one signal. */
export interface Watch {
  /** Completes when something may have happened since it last completed. */
  readonly changed: Effect.Effect<void>
}

export class Signals extends Context.Service<
  Signals,
  {
    /** Appends to one session, by this process or another. */
    readonly watch: (session: string) => Effect.Effect<Watch, never, Scope.Scope>
    /**
     * Calls `look` for appends of other processes to any session, while `use` runs. `look` runs synchronously: it must be
     * quick and must not fail.
     */
    readonly onForeign: <A, E, R>(look: () => void, use: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Every append, with its session if known. `look` runs synchronously: it must be quick and must not fail. */
    readonly onChange: (
      look: (session: string | undefined) => void,
    ) => Effect.Effect<void, never, Scope.Scope>
    /** This process has appended. */
    readonly tell: (session: string) => void
    /** Completes when the watchers of the session have had their turn, or at once when there are none. */
    readonly heard: (session: string) => Effect.Effect<void>
    /** Another process has appended: we saw it in the log, with or without a hint. */
    readonly tellForeign: (session: string) => void
    readonly publishLive: (session: string, event: LiveEvent) => void
    /** A fragment from another process, for readers here only. It is never passed on. */
    readonly relayLive: (session: string, event: LiveEvent) => void
    /** `own`: only fragments of this process. */
    readonly onLive: (
      session: string,
      receive: (event: LiveEvent) => void,
      own?: boolean,
    ) => Effect.Effect<void, never, Scope.Scope>
  }
>()("meridian/Signals") {
  static readonly layer: Layer.Layer<Signals, never, Store> = Layer.effect(
    Signals,
    Effect.suspend(() => makeSignals()),
  )
}

/** How long to keep following without a watcher. The next turn often begins before that. */
const UNWATCHED_MS = 1_000

const makeSignals = (): Effect.Effect<Signals["Service"], never, Store | Scope.Scope> =>
  Effect.gen(function* () {
    const { changes } = yield* Store
    const scope = yield* Effect.scope
    const watchers = openListeners<() => void>()
    const live = openListeners<(event: LiveEvent) => void>()
    const relayed = openListeners<(event: LiveEvent) => void>()
    const foreign = new Set<() => void>()
    const everyone = new Set<(session: string | undefined) => void>()
    let following = false

    const tell = (session: string): void => {
      watchers.each(session, (mark) => mark())
      for (const look of everyone) look(session)
    }

    const tellForeign = (session: string | undefined): void => {
      if (session === undefined) watchers.all((mark) => mark())
      else watchers.each(session, (mark) => mark())
      for (const look of foreign) look()
      for (const look of everyone) look(session)
    }

    /** A hint may be lost, so every waiter also looks now and then. */
    const lookAgain = Effect.sync(() => {
      watchers.all((mark) => mark())
      for (const look of foreign) look()
    }).pipe(Effect.delay(LIMITS.lookAgainMs), Effect.forever, inBackground)

    const isWatched = (): boolean => watchers.size() + foreign.size + everyone.size > 0

    const unwatched = Effect.sleep(UNWATCHED_MS).pipe(
      Effect.repeat({ until: () => !isWatched() }),
      inBackground,
    )

    /** Other processes are followed only while somebody here watches. */
    const follow = Effect.suspend(() => {
      if (following) return Effect.void
      following = true
      return Stream.runForEach(changes, ({ session }) => Effect.sync(() => tellForeign(session))).pipe(
        Effect.raceFirst(lookAgain),
        Effect.raceFirst(unwatched),
        Effect.ensuring(
          Effect.sync(() => {
            following = false
          }),
        ),
        // Starts immediately, so that every append from now on is noticed.
        Effect.forkIn(scope, { startImmediately: true }),
        Effect.asVoid,
      )
    })

    return {
      watch: (session) =>
        Effect.acquireRelease(
          Effect.sync(() => {
            const latch = Latch.makeUnsafe(false)
            const leave = watchers.add(session, () => void latch.openUnsafe())
            return { leave, changed: Effect.asVoid(Effect.andThen(latch.await, latch.close)) }
          }),
          ({ leave }) => Effect.sync(leave),
        ).pipe(Effect.tap(follow)),
      onForeign: (look, use) =>
        Effect.suspend(() => {
          foreign.add(look)
          return Effect.onExitPrimitive(following ? use : Effect.andThen(follow, use), () => {
            foreign.delete(look)
            return undefined
          })
        }),
      onChange: (look) =>
        Effect.acquireRelease(
          Effect.sync(() => void everyone.add(look)),
          () => Effect.sync(() => everyone.delete(look)),
        ).pipe(Effect.tap(follow)),
      tell,
      heard: (session) => Effect.suspend(() => (watchers.has(session) ? Effect.yieldNow : Effect.void)),
      tellForeign,
      publishLive: (session, event) => live.each(session, (receive) => receive(event)),
      relayLive: (session, event) => relayed.each(session, (receive) => receive(event)),
      onLive: (session, receive, own = false) =>
        Effect.acquireRelease(
          Effect.sync(() => [live, ...(own ? [] : [relayed])].map((to) => to.add(session, receive))),
          (leave) =>
            Effect.sync(() => {
              for (const each of leave) each()
            }),
        ).pipe(Effect.asVoid),
    }
  })

const openListeners = <Listener>() => {
  const bySession = new Map<string, Set<Listener>>()
  return {
    size: () => bySession.size,
    has: (session: string) => bySession.has(session),
    add: (session: string, listener: Listener): (() => void) => {
      const listeners = bySession.get(session) ?? new Set()
      bySession.set(session, listeners.add(listener))
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) bySession.delete(session)
      }
    },
    each: (session: string, tell: (listener: Listener) => void): void => {
      for (const listener of bySession.get(session) ?? []) tell(listener)
    },
    all: (tell: (listener: Listener) => void): void => {
      for (const listeners of bySession.values()) for (const listener of listeners) tell(listener)
    },
  }
}
