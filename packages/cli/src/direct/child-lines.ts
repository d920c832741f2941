/**
 * What the children of a run's session do and use, reported as it happens: it is part of the run's work, and counts
 * against shared caps.
 */
import type { Engine, SessionEvent } from "@meridian/engine"
import { followEvents, type Follower } from "@meridian/server"
import type { DirectEvent } from "@meridian/spaces"

import { openTranslator } from "./translate.ts"

export interface ChildLines {
  /** Once for each child is enough. Repeating it does no harm. */
  readonly meet: (child: string) => void
  readonly close: () => Promise<void>
}

export const openChildLines = (
  engine: Engine,
  options: {
    /** Earlier events are already reported or known. */
    readonly sinceMs: number
    readonly isPriced: (model: string) => boolean
    readonly tell: (event: DirectEvent) => void
  },
): ChildLines => {
  const followers = new Map<string, Follower>()
  const follow = (child: string): Follower => {
    const translator = openTranslator(options)
    return followEvents(engine, { sessionID: child, after: 0 }, (event) => {
      const told = translator.push(event)
      if (isSince(event, options.sinceMs)) told.filter(isTold).map(namedBy(child)).forEach(options.tell)
    })
  }
  return {
    meet: (child) => {
      if (!followers.has(child)) followers.set(child, follow(child))
    },
    close: async () => {
      for (const [child, follower] of followers) await finish(engine, child, follower)
    },
  }
}

/** A part that could not be read is only missing from the sums of the run. */
const finish = async (engine: Engine, child: string, follower: Follower): Promise<void> => {
  try {
    await follower.upTo((await engine.sessions.get(child)).seq)
  } catch {
    // The child was deleted in between.
  } finally {
    await follower.close().catch(() => undefined)
  }
}

const isSince = (event: SessionEvent, sinceMs: number): boolean => "time" in event && event.time >= sinceMs

/** A child's words are for its parent. */
const isTold = ({ type }: DirectEvent): boolean => TOLD.has(type)

const TOLD: ReadonlySet<DirectEvent["type"]> = new Set([
  "usage",
  "turn.ended",
  "retry",
  "compaction",
  "tool.started",
  "tool.ended",
  "file",
])

/** Providers give the same names to calls of different sessions. */
const namedBy =
  (child: string) =>
  (event: DirectEvent): DirectEvent =>
    event.type === "tool.started" || event.type === "tool.ended"
      ? { ...event, call: `${child}/${event.call}` }
      : event
