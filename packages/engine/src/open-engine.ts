/** The Promise face: `openEngine`, the same verbs as the Effect services. */
import { Failure } from "@meridian/protocol"
import { Cause, Context, Effect, Exit, Scope } from "effect"

import type { Engine, EngineOptions, WaitOptions } from "./api.ts"
import { aboutSession, fieldsOf, sessionOf } from "./check-options.ts"
import { EngineRuntime, makeEngine, Permissions, type EngineInternals } from "./engine.ts"
import { readChanges, readEvents, readEventTexts, readLive, Sessions } from "./sessions.ts"

export const openEngine = (options: EngineOptions): Promise<Engine> => openEngineWith(options, {})

/** As `openEngine`, with parts a test decides. */
export const openEngineWith = async (options: EngineOptions, internals: EngineInternals): Promise<Engine> => {
  const scope = Scope.makeUnsafe()
  const opened = await Effect.runPromiseExit(makeEngine(options, internals).pipe(Scope.provide(scope)))
  if (Exit.isFailure(opened)) {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    throw reject(opened.cause)
  }
  const sessions = Context.get(opened.value, Sessions)
  const permissions = Context.get(opened.value, Permissions)
  const runtime = Context.get(opened.value, EngineRuntime)
  let closing: Promise<void> | undefined

  const run = async <A>(ask: () => Effect.Effect<A, Failure>, wait: WaitOptions = {}): Promise<A> => {
    if (closing !== undefined) throw new Failure("ENGINE_CLOSED")
    const { signal } = wait
    signal?.throwIfAborted()
    const exit = await Effect.runPromiseExit(ask(), signal === undefined ? {} : { signal })
    if (Exit.isSuccess(exit)) return exit.value
    if (signal?.aborted === true && Cause.hasInterruptsOnly(exit.cause)) throw signal.reason
    throw reject(exit.cause)
  }

  const closed = new AbortController()
  const iterate = <A>(
    open: (signal: AbortSignal) => AsyncIterable<A>,
    { signal }: WaitOptions = {},
  ): AsyncIterable<A> => {
    if (closing !== undefined) throw new Failure("ENGINE_CLOSED")
    const left = new AbortController()
    const signals = [left.signal, closed.signal, ...(signal === undefined ? [] : [signal])]
    return leaving(open(AbortSignal.any(signals)), left)
  }

  return {
    sessions: {
      create: (input) =>
        run(() => {
          fieldsOf(input, "The request")
          return sessions.create(input)
        }),
      fork: (input) => run(() => sessions.fork(aboutSession(input))),
      import: (input, wait) =>
        run(() => {
          fieldsOf(input, "The request")
          return sessions.import(input)
        }, wait),
      get: (sessionID) => run(() => sessions.get(sessionOf(sessionID))),
      list: (input) => run(() => sessions.list(input)),
      prompt: (input) => run(() => sessions.prompt(aboutSession(input))),
      run: (sessionID, wait) => run(() => sessions.run(sessionOf(sessionID)), wait),
      wake: (sessionID) => run(() => sessions.wake(sessionOf(sessionID))),
      interrupt: (sessionID) => run(() => sessions.interrupt(sessionOf(sessionID))),
      wait: (sessionID, wait) => run(() => sessions.wait(sessionOf(sessionID)), wait),
      active: () => run(() => sessions.active),
      events: (input, wait) => iterate((signal) => readEvents(runtime, aboutSession(input), signal), wait),
      eventTexts: (input, wait) =>
        iterate((signal) => readEventTexts(runtime, aboutSession(input), signal), wait),
      changes: (wait) => iterate((signal) => readChanges(runtime, signal), wait),
      live: (sessionID, wait) => iterate((signal) => readLive(runtime, sessionOf(sessionID), signal), wait),
      messages: (input) => run(() => sessions.messages(aboutSession(input))),
      message: (input) => run(() => sessions.message(aboutSession(input, "id"))),
      inputs: (sessionID) => run(() => sessions.inputs(sessionOf(sessionID))),
      cancel: (input) => run(() => sessions.cancel(aboutSession(input, "id"))),
      switchModel: (input) => run(() => sessions.switchModel(aboutSession(input, "model"))),
      switchAgent: (input) => run(() => sessions.switchAgent(aboutSession(input, "agent"))),
      compact: (sessionID, wait) => run(() => sessions.compact(sessionOf(sessionID)), wait),
      receipts: (sessionID) => run(() => sessions.receipts(sessionOf(sessionID))),
      restore: (input) => run(() => sessions.restore(aboutSession(input))),
      move: (input) => run(() => sessions.move(aboutSession(input))),
    },
    permissions: {
      list: (input) =>
        run(() => permissions.list(input === undefined ? {} : { ...fieldsOf(input, "The request") })),
      reply: (input) =>
        run(() => {
          fieldsOf(input, "The request")
          return permissions.reply(input)
        }),
    },
    close: () => {
      closed.abort()
      closing ??= Effect.runPromise(Scope.close(scope, Exit.void))
      return closing
    },
  }
}

/** A reader may leave while it waits for the next item: a generator alone would only hear of it behind that item. */
const leaving = <A>(items: AsyncIterable<A>, left: AbortController): AsyncIterable<A> => ({
  [Symbol.asyncIterator]: () => {
    const inner = items[Symbol.asyncIterator]()
    return {
      next: () => inner.next(),
      return: async () => {
        left.abort()
        await inner.return?.()
        return { done: true, value: undefined }
      },
    }
  },
})

/** What the caller gets thrown: the failure itself where there is one, the bug otherwise. */
const reject = (cause: Cause.Cause<Failure>): unknown => Cause.squash(cause)
