/** Only one Meridian process at a time changes the shared state of a repository, over all projects and spaces. */
import { Failure } from "@meridian/protocol"

import { acquireLock, type HeldLock } from "../store/lock.ts"

/** Throws LOCK_TIMEOUT, or the abort reason of the signal. `onWait` is called once if it takes long. */
export const withRepositoryLock = async <T>(
  path: string,
  options: { readonly signal: AbortSignal; readonly onWait?: () => void },
  body: (lock: HeldLock) => Promise<T>,
): Promise<T> => {
  for (let waited = 0; waited < LONGEST_MS; waited += STEP_MS) {
    options.signal.throwIfAborted()
    const lock = await acquireLock(path, { waitMs: waited === 0 ? 0 : STEP_MS })
    if (lock === undefined) {
      if (waited === STEP_MS) options.onWait?.()
      continue
    }
    try {
      return await body(lock)
    } finally {
      lock.release()
    }
  }
  throw new Failure("LOCK_TIMEOUT", { file: path, seconds: LONGEST_MS / 1000 })
}

const STEP_MS = 2_000
const LONGEST_MS = 3_600_000
