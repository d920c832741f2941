/** A long-running server also supervises the runs of its project, so that no command is needed for that. */
import { standBy, type World } from "@meridian/spaces"

export const besideSupervisor = async (world: World, serve: () => Promise<void>): Promise<void> => {
  const over = new AbortController()
  const supervising = standBy({ ...world, signal: AbortSignal.any([world.signal, over.signal]) })
  try {
    await serve()
  } finally {
    over.abort()
    await supervising
  }
}
