/** What belongs to a place rather than to a session: its tools and its context. Shared by every session there. */
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
  /** The same object while nothing changed: whoever remembers something about it remembers the right thing. */
  readonly tools: Effect.Effect<ToolSet>
  /** One look at every context source. */
  readonly observe: (scene: ObservationScene) => Effect.Effect<Observation>
  /** What does not work here and was not told to this session before; absent where nothing of the kind can be. */
  readonly troubles?: (sessionID: string) => readonly Trouble[]
  /** What extensions take part in, as it is now; undefined while none does. */
  readonly hooks: () => ActiveHooks | undefined
  /** Instruction files that stand beside a file of this place, relative to its root. */
  readonly instructionsBeside: (path: string, reference?: string) => readonly string[]
  /** What a prompt names here. */
  readonly expand: (request: ExpandRequest) => Promise<Expanded>
  /** What may be typed behind a slash here. */
  readonly templates: () => Promise<readonly CommandTemplate[]>
}

export interface ExpandRequest {
  readonly text: string
  /** How many bytes may come along. */
  readonly spareBytes: number
  readonly signal: AbortSignal
  /** By the rules of whoever will work on the prompt. */
  readonly may: (action: string, resource: string) => "allow" | "ask" | "deny"
  /** Guidance about an agent, or why it cannot be called. */
  readonly agent: (name: string) => { readonly text: string } | { readonly problem: string }
}

export interface Expanded {
  readonly parts: readonly PromptPart[]
  /** Files that were read: what stands beside them may be instructions. */
  readonly read: readonly { readonly path: string; readonly reference?: string }[]
}

export interface CommandTemplate {
  readonly name: string
  /** From the working directory; empty for one that is built in. */
  readonly path: string
  readonly description: string
}
