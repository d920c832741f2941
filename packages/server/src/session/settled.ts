import type { Engine } from "@meridian/engine"
import { Failure } from "@meridian/protocol"

/** Resolves when nothing is left to do: with the failure, or undefined. Rethrows a bug. */
export const settled = async (
  sessions: Pick<Engine["sessions"], "wait">,
  sessionID: string,
): Promise<Failure | undefined> => {
  try {
    await sessions.wait(sessionID)
    return undefined
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
}
