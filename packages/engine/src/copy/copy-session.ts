/**
 * A session of one store, event for event, in another: into a cluster, out of it, or into a file that is put away. Nobody
 * sees it there before it is whole.
 */
import { existsSync } from "node:fs"
import { copyFile, mkdir } from "node:fs/promises"
import { join } from "node:path"

import { Failure } from "@meridian/protocol"
import { Effect } from "effect"

import type { DatedEvent } from "../domain/fork.ts"
import { LIMITS } from "../domain/limits.ts"
import type { LoggedEvent } from "../domain/logged-event.ts"
import type { Creation, Draft, StoreVerbs } from "../port/store.ts"

/** `there`: the same session was copied before. */
export type Copied = "copied" | "there"

interface Copy {
  readonly from: StoreVerbs
  readonly to: StoreVerbs
  readonly session: string
}

export const copySession = (copy: Copy): Effect.Effect<Copied, Failure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { from, to, session } = copy
      const source = yield* from.session(session)
      if (source === undefined) return yield* Effect.fail(new Failure("SESSION_NOT_FOUND", { session }))
      if (source.isHeldElsewhere) return yield* Effect.fail(new Failure("SESSION_IN_USE", { session }))
      const creation = yield* readCreation(from, session)
      if (yield* isThere(copy, creation, source.seq)) return "there"
      const draft = yield* to.draft(creation)
      yield* copyEvents(copy, draft, source.seq)
      if ((yield* draft.publish) === "taken") return yield* Effect.fail(exists(session))
      return "copied"
    }),
  )

const readCreation = (from: StoreVerbs, session: string): Effect.Effect<Creation, Failure> =>
  Effect.flatMap(from.events({ session, after: 0, limit: 1 }), ([first]) =>
    first?.type === "session.next.created.1"
      ? Effect.succeed({ type: first.type, time: first.time, data: first.data })
      : Effect.fail(unreadable(from, session)),
  )

/** One that began the same and is as long is the same. */
const isThere = ({ to, session }: Copy, creation: Creation, seq: number): Effect.Effect<boolean, Failure> =>
  Effect.gen(function* () {
    const found = yield* to.session(session)
    if (found === undefined) return false
    const there = yield* readCreation(to, session)
    if (found.seq === seq && JSON.stringify(there) === JSON.stringify(creation)) return true
    return yield* Effect.fail(exists(session))
  })

const copyEvents = (copy: Copy, draft: Draft, through: number): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const { from, session } = copy
    for (let after = 1; after < through;) {
      const page = yield* from.events({ session, after, limit: LIMITS.eventsPerPage })
      const events = page.flatMap(datedEvent)
      // What this version cannot read it cannot vouch for.
      if (events.length < page.length || page.length === 0)
        return yield* Effect.fail(unreadable(from, session))
      yield* draft.append(events)
      yield* copyOutputs(copy, JSON.stringify(events))
      after += page.length
    }
  })

const datedEvent = (event: LoggedEvent): readonly DatedEvent[] => {
  if (event.type === "unknown") return []
  const { seq: _seq, ...dated } = event
  return [dated]
}

/** The full texts that these events point at. One that is gone by now stays gone. */
const copyOutputs = ({ from, to }: Copy, events: string): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    for (const name of new Set(events.match(/\btool_[0-9a-f]{24}\.txt\b/g))) {
      yield* from.outputs.fetch(name)
      const file = join(from.outputs.folder, name)
      if (!existsSync(file)) continue
      yield* Effect.promise(async () => {
        await mkdir(to.outputs.folder, { recursive: true, mode: 0o700 })
        await copyFile(file, join(to.outputs.folder, name))
      })
      yield* to.outputs.keep(name)
    }
  })

const exists = (session: string): Failure => new Failure("SESSION_EXISTS", { session })

const unreadable = ({ name }: StoreVerbs, session: string): Failure =>
  new Failure("DATABASE_DAMAGED", { file: name, why: `an event of session ${session} cannot be read` })
