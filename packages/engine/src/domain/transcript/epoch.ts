/** The baseline in force, what was told since, and the instruction files that the session discovered. */
import type { ContextSnapshot } from "@meridian/protocol"

import { advance } from "../context.ts"
import type { LoggedEvent } from "../logged-event.ts"

export interface Epoch {
  readonly baseline: string
  readonly seq: number
  readonly snapshot: ContextSnapshot
}

export interface Surroundings {
  /** Undefined before the first baseline and right after a move. */
  readonly epoch: Epoch | undefined
  /** Instruction files found beside files that were read. */
  readonly discovered: readonly string[]
}

export const NO_SURROUNDINGS: Surroundings = { epoch: undefined, discovered: [] }

export const foldSurroundings = (surroundings: Surroundings, events: readonly LoggedEvent[]): Surroundings =>
  events.reduce(foldOne, surroundings)

const foldOne = (surroundings: Surroundings, event: LoggedEvent): Surroundings => {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest tells nothing about the surroundings
  switch (event.type) {
    case "session.next.moved.1":
      // The context of the old place does not describe the new one.
      return NO_SURROUNDINGS
    case "session.next.epoch.started.1": {
      const { baseline, snapshot } = event.data
      return { ...surroundings, epoch: { baseline, snapshot, seq: event.seq } }
    }
    case "session.next.context.updated.1": {
      const { epoch } = surroundings
      if (epoch === undefined) return surroundings
      return { ...surroundings, epoch: { ...epoch, snapshot: advance(epoch.snapshot, event.data) } }
    }
    case "session.next.instruction.discovered.1":
      return { ...surroundings, discovered: [...surroundings.discovered, event.data.path] }
    default:
      return surroundings
  }
}
