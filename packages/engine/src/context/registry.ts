/**
 * The context sources of one Location. Each contribution is ordered and can be closed. Closing it removes its sources, and
 * the model is told at the next boundary.
 */
import { Effect } from "effect"

import type { Observation, Observed } from "../domain/context.ts"
import type { ContextSource, ObservationScene } from "../port/context-source.ts"
import type { LookUps } from "./look-up.ts"

export interface ContextRegistry {
  /**
   * Sources are told by `rank`, then by time of contribution. A source with a key in use replaces the older one until it is
   * closed.
   */
  readonly contribute: (rank: number, sources: readonly ContextSource[]) => { readonly close: () => void }
  /** Called every turn. Takes no turn of the event loop when no source has to wait. */
  readonly observe: (scene: ObservationScene) => Effect.Effect<Observation>
}

/** The ranks of the built-in sources. Embedders come last unless they choose otherwise. */
export const RANK = {
  environment: 0,
  instructions: 100,
  rules: 200,
  skills: 300,
  embedder: 400,
  brief: 900,
} as const

export const createContextRegistry = (
  together: LookUps["together"] = (looks) => looks(),
): ContextRegistry => {
  let entries: { readonly rank: number; readonly source: ContextSource }[] = []
  let current: readonly ContextSource[] | undefined

  const sortOut = (): readonly ContextSource[] => {
    const newest = new Map<string, { rank: number; source: ContextSource }>()
    for (const entry of entries) newest.set(entry.source.key, entry)
    return [...newest.values()].toSorted((left, right) => left.rank - right.rank).map(({ source }) => source)
  }

  const observeOne = (source: ContextSource, scene: ObservationScene): Observed | Promise<Observed> => {
    try {
      const observed = source.observe(scene)
      return observed instanceof Promise ? observed.catch(() => UNAVAILABLE) : observed
    } catch {
      return UNAVAILABLE
    }
  }

  return {
    contribute: (rank, sources) => {
      const added = sources.map((source) => ({ rank, source }))
      entries = [...entries, ...added]
      current = undefined
      return {
        close: () => {
          entries = entries.filter((entry) => !added.includes(entry))
          current = undefined
        },
      }
    },
    observe: (scene) =>
      Effect.suspend(() => {
        const sources = (current ??= sortOut())
        const looks = together(() =>
          sources.map((source) => ({ source, observed: observeOne(source, scene) })),
        )
        if (looks.every(hasSeen)) return Effect.succeed(looks)
        return Effect.promise(() =>
          Promise.all(looks.map(async ({ source, observed }) => ({ source, observed: await observed }))),
        )
      }),
  }
}

interface Look {
  readonly source: ContextSource
  readonly observed: Observed | Promise<Observed>
}

const hasSeen = (look: Look): look is Look & Observation[number] => !(look.observed instanceof Promise)

const UNAVAILABLE: Observed = { kind: "unavailable" }
