/** The Promise face: `openEngine`, the same verbs as the Effect services. */
import { Failure } from "@meridian/protocol"
import { Cause, Context, Effect, Exit, Layer, Scope } from "effect"

import type { CloseOptions, Engine, EngineOptions, ExtensionsApi, Readiness } from "./api.ts"
import { composeEngine, type EngineInternals } from "./engine.ts"
import { Extensions } from "./extensions.ts"
import { PERMISSION_CALLS, promiseFace, QUESTION_CALLS, SESSION_CALLS, type PromiseHost } from "./faces.ts"
import { PermissionsTable } from "./permissions.ts"
import { Store } from "./port/store.ts"
import { QuestionsTable } from "./questions.ts"
import { Scheduler } from "./schedule/index.ts"
import { SessionsTable } from "./sessions.ts"

export const openEngine = (options: EngineOptions): Promise<Engine> => openEngineWith(options, {})

/** Like `openEngine`, with parts from a test. `references` are Effect's own: a clock, a source of randomness. */
export const openEngineWith = async (
  options: EngineOptions,
  internals: EngineInternals,
  references: Context.Context<never> = Context.empty(),
): Promise<Engine> => {
  const scope = Scope.makeUnsafe()
  const opened = await Effect.runPromiseExitWith(references)(
    Layer.buildWithScope(composeEngine(options, internals), scope),
  )
  if (Exit.isFailure(opened)) {
    await Effect.runPromiseWith(references)(Scope.close(scope, Exit.void))
    throw Cause.squash(opened.cause)
  }
  const closed = new AbortController()
  const hurried = new AbortController()
  let closing: Promise<void> | undefined
  const host: PromiseHost = {
    context: references,
    isClosed: () => closing !== undefined,
    closed: closed.signal,
  }
  const scheduler = Context.get(opened.value, Scheduler)
  const store = Context.get(opened.value, Store)

  const drain = async (ms: number, signal: AbortSignal): Promise<void> => {
    await Effect.runPromiseExitWith(references)(Effect.timeoutOption(scheduler.drain, ms), { signal })
  }

  const close = async ({ drainMs }: CloseOptions): Promise<void> => {
    if (drainMs !== undefined) await drain(drainMs, hurried.signal)
    closed.abort()
    await Effect.runPromiseWith(references)(Scope.close(scope, Exit.void))
  }

  const readiness = (): Readiness => {
    if (closing !== undefined) return { ready: false, reason: "the engine closes" }
    if (scheduler.isDraining()) return { ready: false, reason: "it hands its sessions over" }
    return store.isReachable()
      ? { ready: true }
      : { ready: false, reason: "the database has not answered lately" }
  }

  return {
    sessions: promiseFace(Context.get(opened.value, SessionsTable), SESSION_CALLS, host),
    permissions: promiseFace(Context.get(opened.value, PermissionsTable), PERMISSION_CALLS, host),
    questions: promiseFace(Context.get(opened.value, QuestionsTable), QUESTION_CALLS, host),
    extensions: whileOpen(Context.get(opened.value, Extensions).face, host),
    clusterToken: store.peers?.token,
    readiness,
    drain: async ({ ms, signal }) => {
      await drain(ms, AbortSignal.any([hurried.signal, ...(signal === undefined ? [] : [signal])]))
    },
    close: (how = {}) => {
      if (how.drainMs === undefined) hurried.abort()
      closing ??= close(how)
      return closing
    },
  }
}

const whileOpen = ({ add, list }: ExtensionsApi, { isClosed }: PromiseHost): ExtensionsApi => ({
  list,
  add: (extension) => {
    if (isClosed()) throw new Failure("ENGINE_CLOSED")
    return add(extension)
  },
})
