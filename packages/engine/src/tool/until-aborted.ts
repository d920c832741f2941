import { ToolError } from "../port/tool.ts"

/** The work's outcome, or "interrupted" as soon as the signal aborts: foreign code may not listen to it. */
export const untilAborted = async <Value>(
  signal: AbortSignal,
  work: () => Promise<Value>,
): Promise<Value> => {
  const { promise, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(new ToolError("interrupted", "The call was interrupted."))
  if (signal.aborted) onAbort()
  signal.addEventListener("abort", onAbort)
  promise.catch(() => undefined)
  try {
    if (signal.aborted) return await promise
    return await Promise.race([work(), promise])
  } finally {
    signal.removeEventListener("abort", onAbort)
  }
}
