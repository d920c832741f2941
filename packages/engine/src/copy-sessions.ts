/** Copies sessions between databases: files and servers, in any direction. */
import { Clock, Effect, Layer } from "effect"

import { chooseStore } from "./choose-store.ts"
import { copySession, type Copied } from "./copy/index.ts"
import { openIds } from "./ids.ts"
import { Ids } from "./port/ids.ts"
import { Store, type StoreVerbs } from "./port/store.ts"
import { requireKnownAddress } from "./store/postgres/address.ts"

export interface CopyRequest {
  readonly from: string
  readonly to: string
  /** All of them without it. */
  readonly sessions?: readonly string[]
  /** What was copied is deleted where it came from. */
  readonly move?: boolean
}

export interface CopiedSession {
  readonly session: string
  readonly outcome: Copied
}

/** Each session as a whole, one after the other; the first that cannot be copied ends it with a failure. */
export const copySessions = (request: CopyRequest): Promise<readonly CopiedSession[]> => {
  for (const database of [request.from, request.to]) requireKnownAddress(database)
  return Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const from = yield* openStore(request.from)
        const to = yield* openStore(request.to)
        const copied: CopiedSession[] = []
        for (const session of request.sessions ?? (yield* allSessions(from))) {
          copied.push({ session, outcome: yield* copySession({ from, to, session }) })
          if (request.move === true) yield* from.remove(session)
        }
        return copied
      }),
    ),
  )
}

const openStore = (database: string) =>
  Effect.map(Layer.build(chooseStore({ database, places: 0 }).pipe(Layer.provideMerge(ids))), (context) =>
    Store.pipe(Effect.provideContext(context)),
  ).pipe(Effect.flatten)

const ids = Layer.effect(
  Ids,
  Effect.map(Clock.Clock, (clock) => openIds(() => clock.currentTimeMillisUnsafe())),
)

const PAGE = 200

const allSessions = (store: StoreVerbs) =>
  Effect.gen(function* () {
    const found: string[] = []
    for (let from = 0; ;) {
      const page = yield* store.sessions({ direction: "up", from, limit: PAGE })
      for (const { item } of page) found.push(item.id)
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE) return found
      from = last.place
    }
  })
