/**
 * A second session with the same past. The source is only read, page by page, so it may be at work here or in another
 * process; what it has open, and what still waits, is its own.
 */
import { createHash } from "node:crypto"

import { Failure, sessionId, type SessionId } from "@meridian/protocol"
import { Effect } from "effect"

import { assert } from "../domain/assert.ts"
import { rewriteEvent, surveySource, type ForkPlan } from "../domain/fork.ts"
import { LIMITS } from "../domain/limits.ts"
import type { Creation, Draft } from "../store/drafts.ts"
import type { SessionRow } from "../store/log.ts"
import type { Store } from "../store/store.ts"
import { attempt, attemptNow } from "./attempt.ts"
import type { Runtime } from "./drain.ts"

export const forkSession = (
  { store, world }: Pick<Runtime, "store" | "world">,
  input: { readonly sessionID: string; readonly id: SessionId },
): Effect.Effect<SessionRow, Failure> =>
  Effect.gen(function* () {
    const { key } = yield* attemptNow(() => store.log.head(input.sessionID))
    const earlier = yield* attemptNow(() => findFork(store, input))
    if (earlier !== undefined) return earlier
    const survey = surveySource()
    yield* eachPage(store, key, Number.MAX_SAFE_INTEGER, (events) => events.forEach(survey.look))
    const plan = survey.plan()
    const creation = yield* attemptNow(() => {
      const parent = { sessionID: sessionId(input.sessionID), through: plan.through, time: world.now() }
      return creationOf(store, key, input.id, parent)
    })
    const written = yield* writeDraft(store, creation, (draft) => copyEvents(store, key, plan, draft))
    if (written.created) return written.row
    // Somebody else has forked it under this id in the same moment, or taken the id for something else.
    return (yield* attemptNow(() => findFork(store, input))) ?? written.row
  })

/** Opens a draft, lets it be written and publishes it; however that ends, no half of it stays. */
export const writeDraft = <Written>(
  store: Store,
  creation: Creation,
  write: (draft: Draft) => Effect.Effect<Written, Failure>,
) =>
  Effect.acquireUseRelease(
    attempt(() => store.drafts.open(creation)),
    (draft) =>
      Effect.gen(function* () {
        const written = yield* write(draft)
        const { row, created } = yield* attemptNow(draft.publish)
        return { row, created, written }
      }),
    (draft) => attempt(draft.discard).pipe(Effect.ignore),
  )

const copyEvents = (
  store: Store,
  key: number,
  plan: ForkPlan,
  draft: Draft,
): Effect.Effect<void, Failure> => {
  const rename = renamer(draft.key)
  return eachPage(store, key, plan.through, (events) => {
    draft.append(events.flatMap((event) => rewriteEvent(event, plan, rename) ?? []))
  })
}

/** Page after page, with room for others between. */
const eachPage = (
  store: Store,
  key: number,
  through: number,
  take: (events: ReturnType<Store["reader"]["events"]>) => void,
): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    let after = 0
    while (after < through) {
      const events = yield* attemptNow(() => {
        if (!store.database.raw.isOpen) throw new Failure("ENGINE_CLOSED")
        const page = store.reader.events(key, after, LIMITS.eventsPerPage)
        take(page)
        return page
      })
      if (events.length < LIMITS.eventsPerPage) return
      after = events.at(-1)?.seq ?? through
      yield* Effect.yieldNow
    }
  })

/** A retry gets the first answer; any other session under the id is in the way. */
const findFork = (
  store: Store,
  { sessionID, id }: { readonly sessionID: string; readonly id: string },
): SessionRow | undefined => {
  const row = store.log.find(id)
  if (row === undefined) return undefined
  const [created] = store.reader.events(row.key, 0, 1)
  if (created?.type === "session.next.created.1" && created.data.parent?.sessionID === sessionID) return row
  throw new Failure("SESSION_EXISTS", { session: id })
}

/** The conversation began when it began: the times of a fork are those of its source. */
const creationOf = (
  store: Store,
  key: number,
  id: SessionId,
  parent: NonNullable<Creation["data"]["parent"]>,
): Creation => {
  const [created] = store.reader.events(key, 0, 1)
  assert(created?.type === "session.next.created.1", "a session begins with its creation")
  const { location, agent, model, title } = created.data
  return {
    type: created.type,
    time: created.time,
    data: {
      sessionID: id,
      location,
      ...(agent === undefined ? {} : { agent }),
      ...(model === undefined ? {} : { model }),
      ...(title === undefined ? {} : { title }),
      parent,
    },
  }
}

/** Ids of messages are unique in a database: the copy's are made from its key and the old one. */
const renamer =
  (key: number) =>
  (id: string): string => {
    const prefix = /^[a-z]{3}_/.exec(id)?.[0] ?? "msg_"
    return `${prefix}${createHash("sha256").update(`${key} ${id}`).digest("hex").slice(0, 32)}`
  }
