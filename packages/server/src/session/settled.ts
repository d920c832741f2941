import type { Engine } from "@meridian/engine"
import { Failure } from "@meridian/protocol"

/** When nothing is left to do: how it failed, or undefined. Throws a bug on. */
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
