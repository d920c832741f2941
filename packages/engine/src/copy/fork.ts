/**
 * A second session with the same past. The source is only read, page by page, so this process or another may be working on
 * it. What the source has open, and its waiting inputs, are not copied.
 */
import { createHash } from "node:crypto"

import { Failure, sessionId, type SessionId } from "@meridian/protocol"
import { Clock, Effect } from "effect"

import { assert } from "../domain/assert.ts"
import { rewriteEvent, surveySource, type ForkPlan } from "../domain/fork.ts"
import { LIMITS } from "../domain/limits.ts"
import type { LoggedEvent } from "../domain/logged-event.ts"
import { Store, type Creation, type Draft } from "../port/store.ts"
import type { Signals } from "../session/index.ts"
import { writeDraft } from "./write-draft.ts"

export interface ForkRequest {
  /** The id of the source. */
  readonly sessionID: string
  /** The id of the fork. */
  readonly id: SessionId
  /** The last message to copy. Default: everything that is settled. */
  readonly at?: string | undefined
}

/** Completes when the fork exists, created now or by an earlier request with the same id. */
export const forkSession = (request: ForkRequest): Effect.Effect<void, Failure, Store | Signals> =>
  Effect.gen(function* () {
    const { sessionID, id, at } = request
    const first = yield* firstEvent(sessionID)
    if (first === undefined)
      return yield* Effect.fail(new Failure("SESSION_NOT_FOUND", { session: sessionID }))
    if (yield* isForked(request)) return
    const survey = surveySource(at)
    yield* eachPage(sessionID, Number.MAX_SAFE_INTEGER, (events) =>
      Effect.sync(() => events.forEach(survey.look)),
    )
    if (survey.found() !== "settled")
      return yield* Effect.fail(
        new Failure(NO_PLACE[survey.found()], { session: sessionID, message: at ?? "" }),
      )
    const plan = survey.plan()
    const time = yield* Clock.currentTimeMillis
    const parent = {
      sessionID: sessionId(sessionID),
      through: plan.through,
      time,
      ...(at === undefined ? {} : { at }),
    }
    const { created } = yield* writeDraft(creationOf(first, id, parent), (draft) =>
      copyEvents(sessionID, plan, draft),
    )
    // Another process has forked it under this id at the same moment, or the id was taken for something else.
    if (!created) yield* isForked(request)
  })

const NO_PLACE = {
  settled: "MESSAGE_NOT_FOUND",
  missing: "MESSAGE_NOT_FOUND",
  open: "MESSAGE_NOT_SETTLED",
} as const

const copyEvents = (session: string, plan: ForkPlan, draft: Draft) => {
  const rename = renamer(draft.name)
  return eachPage(session, plan.through, (events) =>
    draft.append(events.flatMap((event) => rewriteEvent(event, plan, rename) ?? [])),
  )
}

/** Page by page, letting other work run in between. */
const eachPage = (
  session: string,
  through: number,
  take: (events: readonly LoggedEvent[]) => Effect.Effect<void, Failure>,
): Effect.Effect<void, Failure, Store> =>
  Effect.gen(function* () {
    const store = yield* Store
    for (let after = 0; after < through;) {
      const page = yield* store.events({ session, after, limit: LIMITS.eventsPerPage })
      yield* take(page)
      if (page.length < LIMITS.eventsPerPage) return
      after = page.at(-1)?.seq ?? through
      yield* Effect.yieldNow
    }
  })

const firstEvent = (session: string): Effect.Effect<LoggedEvent | undefined, Failure, Store> =>
  Effect.map(
    Store.use((store) => store.events({ session, after: 0, limit: 1 })),
    ([first]) => first,
  )

/** True for a retry, which gets the first answer. Any other session with the id is in the way. */
const isForked = ({ sessionID, id, at }: ForkRequest): Effect.Effect<boolean, Failure, Store> =>
  Effect.flatMap(firstEvent(id), (first) => {
    if (first === undefined) return Effect.succeed(false)
    const parent = first.type === "session.next.created.1" ? first.data.parent : undefined
    if (parent?.sessionID === sessionID && parent.at === at) return Effect.succeed(true)
    return Effect.fail(new Failure("SESSION_EXISTS", { session: id }))
  })

/** A fork keeps the times of its source, including the start of the conversation. */
const creationOf = (
  first: LoggedEvent,
  id: SessionId,
  parent: NonNullable<Creation["data"]["parent"]>,
): Creation => {
  assert(first.type === "session.next.created.1", "a session begins with its creation")
  const { location, agent, model, title, recovery } = first.data
  return {
    type: first.type,
    time: first.time,
    data: {
      sessionID: id,
      location,
      ...(agent === undefined ? {} : { agent }),
      ...(model === undefined ? {} : { model }),
      ...(title === undefined ? {} : { title }),
      ...(recovery === undefined ? {} : { recovery }),
      parent,
    },
  }
}

/** Message ids are unique in a store, so the copy's ids are derived from its name and the old ids. */
const renamer =
  (name: string) =>
  (id: string): string => {
    const prefix = /^[a-z]{3}_/.exec(id)?.[0] ?? "msg_"
    return `${prefix}${createHash("sha256").update(`${name} ${id}`).digest("hex").slice(0, 32)}`
  }
