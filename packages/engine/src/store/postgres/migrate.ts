/** Creates or updates the tables: one node at a time, under a lock of the server. */
import { createHash } from "node:crypto"

import { Failure } from "@meridian/protocol"

import type { Address } from "./address.ts"
import type { Connection, Query } from "./connection.ts"
import { migrations } from "./schema.ts"

/** Fills an empty schema. An old schema is changed only on request, because other nodes may still use it. */
export const migrate = (
  connection: Connection,
  { schema, shown }: Address,
  mayChange: boolean,
): Promise<void> =>
  connection.transact(async (query) => {
    requireVersion((await query("show server_version_num"))[0]?.["server_version_num"], shown)
    await query("select pg_advisory_xact_lock(hashtext($1))", [`meridian ${schema.replaceAll('"', "")}`])
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

const OLDEST = 140_000

export const requireVersion = (number: unknown, shown: string): void => {
  if (Number(number) < OLDEST)
    throw new Failure("DATABASE_TOO_OLD", { database: shown, found: Math.floor(Number(number) / 10_000) })
}

/** What a node sets on its own connection must still be there for the next question. */
export const requireOwnConnection = async (query: Query, me: string, shown: string): Promise<void> => {
  await query("select set_config('meridian.node', $1, false)", [me])
  for (let count = 0; count < 3; count += 1) {
    const [row] = await query("select current_setting('meridian.node', true) as node")
    if (row?.["node"] !== me) throw new Failure("DATABASE_POOLED", { database: shown })
  }
}

/** For read-only use. */
export const requireSchema = async (connection: Connection, { schema, shown }: Address): Promise<void> => {
  const found = await versionOf((sql, values) => connection.ask(sql, values), schema)
  const known = migrations(schema).length
  if (found > known) throw new Failure("DATABASE_NEWER", { file: shown, found, known })
  if (found < known) throw new Failure("DATABASE_OLD", { database: shown, found, known })
}

/**
 * The token of a cluster is in its database. A configured token must be the same for all nodes: a different one means
 * another cluster, or a forgotten node. It can be changed while no node is present.
 */
export const agreeOnToken = (
  connection: Connection,
  { schema, shown }: Address,
  given: string | undefined,
  /** False: this process only looks and takes no part in the cluster. */
  works: boolean,
): Promise<string> =>
  connection.transact(async (query) => {
    const [row] = await query(`select token, token_given from ${schema}.store for update`)
    const token = String(row?.["token"])
    const wanted = given === undefined ? undefined : createHash("sha256").update(given).digest("hex")
    const isGiven = row?.["token_given"] === true
    if (wanted === undefined ? !works || !isGiven : isGiven && wanted === token)
      return { keep: false, answer: token }
    const [others] = await query(`select exists (select 1 from ${schema}.worker) as there`)
    if (others?.["there"] === true) throw new Failure("CLUSTER_TOKEN", { database: shown })
    await query(`update ${schema}.store set token = coalesce($1, token), token_given = $2`, [
      wanted ?? null,
      wanted !== undefined,
    ])
    return { keep: true, answer: wanted ?? token }
  })

const DONE = { keep: true, answer: undefined } as const

/** 0: the schema has none of our tables. */
const versionOf = async (query: Query, schema: string): Promise<number> => {
  const [table] = await query("select to_regclass($1) is not null as there", [`${schema}.store`])
  if (table?.["there"] !== true) return 0
  const [row] = await query(`select version from ${schema}.store`)
  return Number(row?.["version"] ?? 0)
}
