/** Copies sessions between databases: files and servers, in any direction. */
import { Failure } from "@meridian/protocol"
import { Effect } from "effect"

import { openStore } from "./choose-store.ts"
import { copySession, moveSession, type Copied } from "./copy/index.ts"
import type { StoreVerbs } from "./port/store.ts"
import { requireKnownAddress } from "./store/postgres/address.ts"

export interface CopyRequest {
  readonly from: string
  readonly to: string
  /** Default: all of them. */
  readonly sessions?: readonly string[]
  /** Deletes copied sessions at their origin. */
  readonly move?: boolean
}

export interface CopiedSession {
  readonly session: string
  /** A failure concerns only this session. The others were copied anyway. */
  readonly outcome: Copied | Failure
}

/** Copies each session completely, one after the other. */
export const copySessions = (request: CopyRequest): Promise<readonly CopiedSession[]> => {
  for (const database of [request.from, request.to]) requireKnownAddress(database)
  return Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const { store: from, outputs: kept } = yield* openStore({ database: request.from, offer: NO_WORK })
        const { store: to, outputs: keeping } = yield* openStore({ database: request.to, offer: NO_WORK })
        const outputs = { from: kept, to: keeping }
        if (from.identity === to.identity)
          return yield* Effect.fail(new Failure("SAME_DATABASE", { database: to.name }))
        const copied: CopiedSession[] = []
        for (const session of request.sessions ?? (yield* allSessions(from))) {
          const copy = request.move === true ? moveSession : copySession
          const outcome = yield* Effect.match(copy({ from, to, outputs, session }), {
            onSuccess: (done): CopiedSession["outcome"] => done,
            onFailure: (failure) => failure,
          })
          copied.push({ session, outcome })
        }
        return copied
      }),
    ),
  )
}

const NO_WORK = { places: 0, workspaces: [] } as const

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
