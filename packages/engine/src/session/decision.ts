/** A change of a session as a pure function of what it is: what to append, and what that answers. */
import type { DurableEvent, Failure, StoredEvent } from "@meridian/protocol"
import type { Effect } from "effect"

import type { Transcript } from "../domain/transcript/transcript.ts"
import type { Durability, Fence } from "../port/store.ts"

export interface Destination {
  readonly session: string
  readonly fence?: Fence
  readonly durability: Durability
  /** It gives others that come at the same moment the time to join it. */
  readonly isPatient?: boolean
}

/** What to append, and the answer once it is stored. Without events the answer is true now. */
export type Decision<A> =
  | {
      readonly kind: "append"
      readonly events: readonly DurableEvent[]
      readonly answer: (stored: readonly StoredEvent[]) => A
    }
  | { readonly kind: "refuse"; readonly failure: Failure }

/** Pure. Runs again when the session has moved. */
export type Decide<A> = (transcript: Transcript) => Decision<A>

/** Stored, and visible to every process. `safe` completes when it is as durable as requested. */
export interface Written<A> {
  readonly answer: A
  readonly safe: Effect.Effect<void, Failure>
}

export interface Appended<A> extends Written<A> {
  /** True when something was appended. */
  readonly isNew: boolean
}
