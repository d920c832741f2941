/** Makes the tables, or brings them up to this version: one node at a time, under a lock of the server. */
import { Failure } from "@meridian/protocol"

import type { Address } from "./address.ts"
import type { Connection, Query } from "./connection.ts"
import { migrations } from "./schema.ts"

/** An empty schema is made. An old one is changed only when asked: other nodes may still be at work on it. */
export const migrate = (
  connection: Connection,
  { schema, shown }: Address,
  mayChange: boolean,
): Promise<void> =>
  connection.transact(async (query) => {
    await query("select pg_advisory_xact_lock(hashtext($1))", [`meridian ${schema}`])
    const found = await versionOf(query, schema)
    const steps = migrations(schema)
    const known = steps.length
    if (found === known) return DONE
    if (found > known) throw new Failure("DATABASE_NEWER", { file: shown, found, known })
    if (found > 0 && !mayChange) throw new Failure("DATABASE_OLD", { database: shown, found, known })
    await query(`create schema if not exists ${schema}`)
    for (const step of steps.slice(found)) await query(step)
    await query(`update ${schema}.store set version = $1`, [known])
    return DONE
  })

const DONE = { keep: true, answer: undefined } as const

/** 0: nothing of ours is there. */
const versionOf = async (query: Query, schema: string): Promise<number> => {
  const [table] = await query("select to_regclass($1) is not null as there", [`${schema}.store`])
  if (table?.["there"] !== true) return 0
  const [row] = await query(`select version from ${schema}.store`)
  return Number(row?.["version"] ?? 0)
}
