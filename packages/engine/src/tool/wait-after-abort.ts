import { pause } from "../port/machine-time.ts"
import { ToolError } from "../port/tool.ts"

/**
 * The work's outcome, even after the caller has aborted: what really happened is worth waiting for. After the grace period
 * the work is told to stop and the call counts as interrupted.
 */
export const waitAfterAbort = async <Value>(
  { signal, graceMs }: { readonly signal: AbortSignal; readonly graceMs: number },
  work: (stop: AbortSignal) => Promise<Value>,
): Promise<Value> => {
  const interrupted = new ToolError("interrupted", "The call was interrupted.")
  if (signal.aborted) throw interrupted
  const stop = new AbortController()
  const over = new AbortController()
  const { promise, reject } = Promise.withResolvers<never>()
  const giveUp = async (): Promise<void> => {
    try {
      await pause(graceMs, undefined, { signal: over.signal })
    } catch {
      return
    }
    reject(interrupted)
    stop.abort(interrupted)
  }
  const onAbort = (): void => void giveUp()
  signal.addEventListener("abort", onAbort)
  try {
    return await Promise.race([work(stop.signal), promise])
  } finally {
    over.abort()
    signal.removeEventListener("abort", onAbort)
  }
}
