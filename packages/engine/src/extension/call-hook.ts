/**
 * Calls one hook of one extension, within its time, and checks the answer. Never fails: trouble is reported. A hook that
 * fails repeatedly is left out, because each failure may cost its full time.
 */
import { Effect, Option, Result } from "effect"

import { LIMITS } from "../domain/limits.ts"
import type { HookFailure } from "../port/hooks.ts"
import type { Extension, ExtensionHooks, HookName, HookOptions } from "./extension.ts"

/** An extension as the engine keeps it. */
export interface Registered {
  readonly extension: Extension
  /** Failures in a row, per hook. */
  readonly failures: Map<HookName, number>
}

export type HookAnswer<Value> =
  | { readonly kind: "answer"; readonly value: Value }
  /** The extension has no such hook, the hook is left out, or it returned nothing. */
  | { readonly kind: "nothing" }
  | { readonly kind: "failed"; readonly failure: HookFailure }

export const hasHook = ({ extension, failures }: Registered, hook: HookName): boolean =>
  extension.hooks?.[hook] !== undefined && (failures.get(hook) ?? 0) < LIMITS.hookFailures

/** `read` throws when the answer cannot be used. */
export const callHook = <Name extends HookName, Value>(
  registered: Registered,
  hook: Name,
  {
    view,
    read,
  }: {
    readonly view: Parameters<Required<ExtensionHooks>[Name]>[0]
    readonly read: (value: unknown) => Value
  },
): Effect.Effect<HookAnswer<Value>> =>
  Effect.suspend(() => {
    const { extension, failures } = registered
    if (!hasHook(registered, hook)) return Effect.succeed(NOTHING)
    const { hookTimeoutMs = LIMITS.hookMs } = extension
    const failed = (why: string): HookAnswer<Value> => {
      const count = (failures.get(hook) ?? 0) + 1
      failures.set(hook, count)
      const last = count < LIMITS.hookFailures ? "" : "; it is left out from here on"
      const message = `${why.slice(0, LIMITS.hookMessageCharacters)}${last}`
      return { kind: "failed", failure: { extension: extension.name, hook, message } }
    }
    const answered = (given: unknown): HookAnswer<Value> => {
      try {
        const answer = given === undefined ? NOTHING : ({ kind: "answer", value: read(given) } as const)
        failures.delete(hook)
        return answer
      } catch (cause) {
        return failed(wordsOf(cause))
      }
    }
    const controller = new AbortController()
    let given: unknown
    let waiting: PromiseLike<unknown> | undefined
    try {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the view is the one this hook takes
      const run = extension.hooks?.[hook] as (given: unknown, options: HookOptions) => unknown
      given = run.call(extension.hooks, view, { signal: controller.signal })
      if (isPromiseLike(given)) waiting = given
    } catch (cause) {
      return Effect.succeed(failed(wordsOf(cause)))
    }
    // Most hooks answer synchronously, which costs neither a timer nor a fiber.
    if (waiting === undefined) return Effect.succeed(answered(given))
    const promised = waiting
    const called = Effect.tryPromise({ try: () => Promise.resolve(promised), catch: wordsOf }).pipe(
      Effect.timeoutOption(hookTimeoutMs),
      Effect.ensuring(Effect.sync(() => controller.abort())),
    )
    return Effect.map(Effect.result(called), (result) => {
      if (Result.isFailure(result)) return failed(result.failure)
      return Option.isSome(result.success)
        ? answered(result.success.value)
        : failed(`it took longer than ${hookTimeoutMs} ms`)
    })
  })

const isPromiseLike = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null && "then" in value && typeof value.then === "function"

const wordsOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

const NOTHING = { kind: "nothing" } as const
