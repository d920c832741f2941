/**
 * Calls one hook of one extension: within its time, with its answer looked at. It never fails; what went wrong is said. One
 * that fails again and again is left out, because each time it costs what it may take.
 */
import { Effect, Option, Result } from "effect"

import { LIMITS } from "../domain/limits.ts"
import type { HookFailure } from "../port/hooks.ts"
import type { Extension, ExtensionHooks, HookName, HookOptions } from "./extension.ts"

/** An extension as the engine holds it. */
export interface Registered {
  readonly extension: Extension
  /** Failures in a row, by hook. */
  readonly failures: Map<HookName, number>
}

export type HookAnswer<Value> =
  | { readonly kind: "answer"; readonly value: Value }
  /** It has no such hook, it is left out, or it had nothing to say. */
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
    const called = Effect.tryPromise({
      try: async (signal) => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the view is the one this hook takes
        const run = extension.hooks?.[hook] as (given: unknown, options: HookOptions) => unknown
        const answer = await run(view, { signal })
        return answer === undefined ? NOTHING : { kind: "answer" as const, value: read(answer) }
      },
      catch: (cause) => (cause instanceof Error ? cause.message : String(cause)),
    })
    return Effect.map(
      Effect.result(Effect.timeoutOption(called, hookTimeoutMs)),
      (result): HookAnswer<Value> => {
        if (Result.isSuccess(result) && Option.isSome(result.success)) {
          failures.delete(hook)
          return result.success.value
        }
        const count = (failures.get(hook) ?? 0) + 1
        failures.set(hook, count)
        const why = Result.isFailure(result) ? result.failure : `it took longer than ${hookTimeoutMs} ms`
        const last = count < LIMITS.hookFailures ? "" : "; it is left out from here on"
        const message = `${why.slice(0, LIMITS.hookMessageCharacters)}${last}`
        return { kind: "failed", failure: { extension: extension.name, hook, message } }
      },
    )
  })

const NOTHING = { kind: "nothing" } as const
