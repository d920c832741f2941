/**
 * What belongs to a place rather than to a session: its tools and what they need. Built when a drain first enters the
 * place, shared by every session there, closed when nobody has been there for a while.
 */
import type { Failure, Json } from "@meridian/protocol"
import { Effect, RcMap, type Scope } from "effect"

import type { ContextRegistry } from "../context/registry.ts"
import { LIMITS } from "../domain/limits.ts"
import type { ToolAdvertisement } from "../port/model.ts"
import type { ToolOutput, ToolScene } from "../port/tool.ts"

/** The tools as they are at one moment; a call through an older list is refused. */
export interface ToolSet {
  readonly advertisements: readonly ToolAdvertisement[]
  readonly call: (name: string, input: Json, scene: ToolScene) => Promise<ToolOutput>
}

export interface LocationServices {
  readonly directory: string
  readonly tools: () => Promise<ToolSet>
  readonly context: ContextRegistry
  /** Instruction files that stand beside a file of this place, relative to its root. */
  readonly instructionsBeside: (path: string) => readonly string[]
}

export interface Locations {
  readonly enter: (directory: string) => Effect.Effect<LocationServices, Failure, Scope.Scope>
}

export const createLocations = (
  open: (directory: string) => Effect.Effect<LocationServices, Failure, Scope.Scope>,
): Effect.Effect<Locations, never, Scope.Scope> =>
  Effect.map(RcMap.make({ lookup: open, idleTimeToLive: LIMITS.locationIdleMs }), (open_) => ({
    enter: (directory) => RcMap.get(open_, directory),
  }))
