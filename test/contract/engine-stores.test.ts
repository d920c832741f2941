/** Every store keeps the same contract: SQLite in a file and in memory, and the difficult one of the testkit. */
import { rmSync } from "node:fs"
import { join } from "node:path"

import { storeContract, type StoreUnderTest } from "@meridian/testkit/contract/store"
import { createMemoryDatabase, openMemoryStore } from "@meridian/testkit/memory-store"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { afterAll, beforeAll } from "vitest"

import { Ids } from "../../packages/engine/src/port/ids.ts"
import { Background } from "../../packages/engine/src/port/time.ts"
import { openSqliteStore } from "../../packages/engine/src/store/sqlite/store.ts"
import { makeDirectory } from "../engine-scene.ts"
import { createRandom } from "../sim/random.ts"

let base = ""
beforeAll(() => {
  base = makeDirectory()
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

let names = 0
const ids = Layer.succeed(Ids, { next: (prefix) => `${prefix}${(names += 1)}` })
const run: StoreUnderTest["run"] = (effect) =>
  Effect.scoped(effect).pipe(
    Effect.provideService(Background, (clock) => clock),
    Effect.provide(ids),
    Effect.provide(TestClock.layer({ warningDelay: "1 day" })),
    Effect.runPromise,
  )

const LEASE_MS = 1_000
let stores = 0

const sqlite = (place: () => string): StoreUnderTest["create"] => {
  return () => {
    const file = place()
    const gone = new Set<number>()
    let pids = 0
    const open = Effect.suspend(() => {
      const pid = (pids += 1)
      const processes = {
        me: { pid, started: "", boot: "" },
        isGone: (identity: { readonly pid: number }) => gone.has(identity.pid),
      }
      return Effect.map(openSqliteStore({ file, leaseMs: LEASE_MS, processes }), (opened) => ({
        ...opened,
        die: () => void gone.add(pid),
      }))
    })
    return { open, leaseMs: LEASE_MS }
  }
}

storeContract({ name: "SQLite file", run, create: sqlite(() => join(base, `${(stores += 1)}.sqlite`)) })

storeContract({ name: "SQLite memory", run, create: sqlite(() => ":memory:"), isPrivate: true })

storeContract({
  name: "difficult memory",
  run,
  create: () => {
    const database = createMemoryDatabase()
    const random = createRandom((stores += 1))
    const open = Effect.suspend(() => {
      let dead = false
      return Effect.map(
        openMemoryStore({
          database,
          leaseMs: LEASE_MS,
          chance: random.next,
          delayMs: 12,
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
    return { open, leaseMs: LEASE_MS }
  },
})
