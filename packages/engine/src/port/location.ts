/** What belongs to a place rather than to a session: its tools and its context. All sessions at the place share it. */
import type { PromptPart } from "@meridian/protocol"
import type { Effect } from "effect"

import type { Observation } from "../domain/context.ts"
import type { ObservationScene } from "./context-source.ts"
import type { ActiveHooks } from "./hooks.ts"
import type { ToolSet } from "./tool.ts"

/** Something that was added to the engine and does not work. */
export interface Trouble {
  readonly kind: "mcp" | "extension"
  readonly name: string
  readonly hook?: string
  readonly problem: string
}

export interface LocationServices {
  readonly directory: string
  /** The same object while nothing has changed, so callers may cache by identity. */
  readonly tools: Effect.Effect<ToolSet>
  /** One look at every context source. */
  readonly observe: (scene: ObservationScene) => Effect.Effect<Observation>
  /** Troubles at this place that this session has not yet heard of. Absent where no trouble is possible. */
  readonly troubles?: (sessionID: string) => readonly Trouble[]
  /** The hooks of the extensions, as they are now; undefined when there are none. */
  readonly hooks: () => ActiveHooks | undefined
  /** Instruction files beside a file of this place, relative to its root. */
  readonly instructionsBeside: (path: string, reference?: string) => readonly string[]
  /** Expands what a prompt mentions here. */
  readonly expand: (request: ExpandRequest) => Promise<Expanded>
  /** The commands a user may type after a slash here. */
  readonly templates: () => Promise<readonly CommandTemplate[]>
}

export interface ExpandRequest {
  readonly text: string
  /** How many more bytes the expansion may add. */
  readonly spareBytes: number
  readonly signal: AbortSignal
  /** Who works on the prompt. */
  readonly cast: { readonly agent: string; readonly model: string | undefined }
  /** Decides by the rules of the agent that will work on the prompt. */
  readonly may: (action: string, resource: string) => "allow" | "ask" | "deny"
  /** Guidance about an agent, or the reason why it cannot be called. */
  readonly agent: (name: string) => { readonly text: string } | { readonly problem: string }
}

export interface Expanded {
  readonly parts: readonly PromptPart[]
  /** Files that were read. Files beside them may be instructions. */
  readonly read: readonly { readonly path: string; readonly reference?: string }[]
}

export interface CommandTemplate {
  readonly name: string
  /** Relative to the working directory; empty for a built-in one. */
  readonly path: string
  readonly description: string
}
