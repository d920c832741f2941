/** A write whose answer was lost, and what the second attempt finds. */
import { randomUUID } from "node:crypto"

import { sharedPostgres } from "@meridian/testkit/shared-postgres"
import { afterEach, beforeEach, expect, test } from "vitest"

import { readAddress } from "../../packages/engine/src/store/postgres/address.ts"
import type { Write } from "../../packages/engine/src/store/postgres/append-statement.ts"
import { sendInAnyCase, sendWrites } from "../../packages/engine/src/store/postgres/append.ts"
import { openConnection, type Connection } from "../../packages/engine/src/store/postgres/connection.ts"
import { indexRowsOf } from "../../packages/engine/src/store/postgres/index-rows.ts"
import { migrate } from "../../packages/engine/src/store/postgres/migrate.ts"
import { verifies } from "../verifies.ts"

let schema = ""
let key = 0
let connections: readonly Connection[] = []

/** One empty session, and two connections to it. */
beforeEach(async () => {
  const address = readAddress(`${await sharedPostgres()}?schema=lost_${process.pid}_${Date.now()}`)
  schema = address.schema
  connections = [0, 1].map(() =>
    openConnection({
      address,
      onAnswer: () => undefined,
      monotonic: () => performance.now(),
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      patienceMs: 30_000,
    }),
  )
  await migrate(first(), address, true)
  const [row] = await first().ask(
    `insert into ${schema}.session (id, published, seq, fence, summary) values ('ses_1', true, 0, 7, '{}') returning key`,
  )
  key = Number(row?.["key"])
})
afterEach(async () => {
  for (const connection of connections) await connection.close()
})

const first = (): Connection => at(0)
const second = (): Connection => at(1)
const at = (index: number): Connection => {
  const connection = connections[index]
  if (connection === undefined) throw new Error("it is open")
  return connection
}

const writeAt = (after: number, fence?: number): Write => ({
  key,
  fence,
  after,
  mark: randomUUID(),
  events: [{ seq: after + 1, type: "session.next.renamed.1", time: 1, data: `{"title":"a"}` }],
  rows: indexRowsOf([]),
  summary: "{}",
  parkedUntil: undefined,
  workspace: "shared",
})

const send = (write: Write) => sendInAnyCase(first().ask, schema, [write])
const countEvents = async (): Promise<unknown> =>
  (await first().ask(`select count(*) as count from ${schema}.event`))[0]?.["count"]

verifies(
  "cluster.lost-answer",
  async () => {
    const write = writeAt(0, 7)
    expect(await send(write)).toEqual([{ kind: "stored" }])
    expect(await send(writeAt(1))).toEqual([{ kind: "stored" }])
    await first().ask(`update ${schema}.session set fence = 8`)
    expect(await send(write)).toEqual([{ kind: "stored" }])
    expect(await send(writeAt(0))).toEqual([{ kind: "moved", seq: 2 }])
    expect(await send(writeAt(2, 7))).toEqual([{ kind: "fenced" }])
    expect(await countEvents()).toBe(2)
  },
  "whoever has written or taken the session since",
)

/** A single write and a grouped write use different statements. */
test.each([
  ["alone", sendInAnyCase],
  ["in a group", sendWrites],
])(
  "a write sent again, %s, while the first try still had the session is stored, once",
  async (_how, sends) => {
    const write = writeAt(0)
    const [{ pid } = {}] = await second().ask("select pg_backend_pid() as pid")
    const again = await first().transact(async (query) => {
      expect(await sends(query, schema, [write])).toEqual([{ kind: "stored" }])
      const sent = sends(second().ask, schema, [write])
      const isWaiting = async (): Promise<boolean> =>
        (await query("select 1 as one from pg_locks where pid = $1 and not granted", [pid])).length > 0
      while (!(await isWaiting())) await new Promise(setImmediate)
      return { keep: true, answer: { sent } }
    })
    expect(await again.sent).toEqual([{ kind: "stored" }])
    expect(await countEvents()).toBe(1)
  },
)
