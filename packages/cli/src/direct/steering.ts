/**
 * Words sent to a run while its session works join the session: first those of the launch, then each offer of the
 * worker. Each has its own id, so words that are repeated after a kill are admitted once. A line reports each
 * admission.
 */
import { takeOffer } from "@meridian/continuity"
import type { Engine } from "@meridian/engine"
import { Failure, type JsonObject, type RunOffer } from "@meridian/protocol"
import type { DirectEvent, World } from "@meridian/spaces"

const LOOK_MS = 250

export interface Steering {
  /** Whether something was admitted since the last call: a settled session then has more to do. */
  readonly hasAdmitted: () => boolean
  /** Stops taking offers, once those it has taken are admitted. */
  readonly close: () => Promise<void>
}

export interface Steered {
  readonly sessionID: string
  readonly schema: JsonObject | undefined
  readonly world: World
  readonly tell: (event: DirectEvent) => void
}

export const openSteering = (engine: Engine, steered: Steered): Steering => {
  const { world, tell } = steered
  const over = new AbortController()
  let admitted = false
  const watching = (async () => {
    while (!over.signal.aborted) {
      const offer = takeOffer(world.env)
      if (offer !== undefined) admitted = (await admitOffer(engine, offer, steered)) || admitted
      await world.clock.sleep(LOOK_MS, over.signal)
    }
  })().catch((error: unknown) => {
    // Words that were not admitted wait for the next attempt.
    tell({ type: "warning", message: error instanceof Error ? error.message : String(error) })
  })
  return {
    hasAdmitted: () => {
      const before = admitted
      admitted = false
      return before
    },
    close: async () => {
      over.abort()
      await watching
    },
  }
}

const admitOffer = async (engine: Engine, offer: RunOffer, steered: Steered): Promise<boolean> => {
  const { note, words } = offer
  if (note !== undefined)
    await engine.sessions.prompt({ sessionID: steered.sessionID, prompt: { text: note } })
  return (await admitWords(engine, words, { ...steered, wake: true })) || note !== undefined
}

/** Returns whether there were any. */
export const admitWords = async (
  { sessions }: Engine,
  words: RunOffer["words"],
  { sessionID, schema, world, tell, wake }: Steered & { readonly wake: boolean },
): Promise<boolean> => {
  for (const { number, text } of words) {
    const admit = (id: string | undefined): Promise<unknown> =>
      sessions.prompt({
        sessionID,
        prompt: { text },
        resume: wake,
        ...(schema === undefined ? {} : { format: { type: "json", schema } }),
        ...(id === undefined ? {} : { id }),
      })
    const id = runMessageId(sessionID, world, `_${number}`)
    await admit(id).catch((error: unknown) => {
      // The id belongs to a run from an earlier life of this state folder, with different words.
      if (error instanceof Failure && error.code === "PROMPT_CONFLICT") return admit(undefined)
      throw error
    })
    tell({ type: "told", upTo: number })
  }
  return words.length > 0
}

/** Another attempt of the same run sends the same id: the session already has the message. */
export const runMessageId = (sessionID: string, { env }: World, suffix = ""): string | undefined => {
  const [space, run] = [env["MERIDIAN_SPACE_ID"] ?? "", env["MERIDIAN_PARENT_RUN_ID"] ?? ""]
  return space === "" || run === "" ? undefined : `msg_${sessionID}_${space}_${run}${suffix}`.slice(-MOST_ID)
}

const MOST_ID = 200
