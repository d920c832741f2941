/** A real Postgres keeps the contract of every store. */
import { storeContract, type StoreUnderTest } from "@meridian/testkit/contract/store"
import { sharedPostgres } from "@meridian/testkit/shared-postgres"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { beforeAll } from "vitest"

import { Ids } from "../../packages/engine/src/port/ids.ts"
import { Background } from "../../packages/engine/src/port/time.ts"
import { openPostgresStore } from "../../packages/engine/src/store/postgres/store.ts"

let server = ""
beforeAll(async () => {
  server = await sharedPostgres()
})

let names = 0
const ids = Layer.succeed(Ids, { next: (prefix) => `${prefix}${(names += 1)}` })
const run: StoreUnderTest["run"] = (effect) =>
  Effect.scoped(effect).pipe(
    Effect.provideService(Background, (clock) => clock),
    Effect.provide(ids),
    Effect.provide(TestClock.layer({ warningDelay: "1 day" })),
    Effect.runPromise,
  )

/** The server's answers take real time, and simulated time runs much faster. */
const LEASE_MS = 60_000
let schemas = 0

storeContract({
  name: "Postgres",
  run,
  create: () => {
    const schema = `test_${process.pid}_${(schemas += 1)}`
    const open = Effect.suspend(() => {
      let dead = false
      return Effect.map(
        openPostgresStore({
          address: `${server}?schema=${schema}`,
          leaseMs: LEASE_MS,
          isGone: () => dead,
        }),
        (opened) => ({
          ...opened,
          die: () => {
            dead = true
          },
        }),
      )
    })
    return { open, leaseMs: LEASE_MS, noticeMs: LEASE_MS * 2 }
  },
})
