/** For operators of a server: its findings, its schema, and the nodes that use it. */

import { describeStranded, findStranded, type Offer } from "../../domain/stranded.ts"
import { machineMs, machineNow, pause } from "../../port/machine-time.ts"
import { readAddress, type Address } from "./address.ts"
import { openConnection, type Connection, type Query, type Row } from "./connection.ts"
import { SERVER_TIME, unclaimed } from "./leases.ts"
import { migrate, requireSchema } from "./migrate.ts"
import { CLOCKS_APART_MS } from "./server-clock.ts"
import { offerOf } from "./workers.ts"

export interface Finding {
  readonly name: string
  readonly verdict: "good" | "warning" | "bad"
  readonly found: string
  /** What to do about it. */
  readonly next?: string
}

export interface ClusterNode {
  readonly id: string
  readonly host: string
  /** Its sign of life advanced while we watched. */
  readonly alive: boolean
  /** How many signs of life it has given. */
  readonly beat: number
  /** It is handing its sessions over. */
  readonly leaves: boolean
  readonly places: number
  readonly working: number
  readonly workspaces: readonly string[]
  /** The newest session format that it knows. */
  readonly format: number
  /** Where other nodes reach it. */
  readonly address?: string
}

export interface WaitingSession {
  readonly id: string
  readonly workspace: string
  /** Undefined: a node can take it but has not done so yet. */
  readonly reason?: string
}

export interface Cluster {
  readonly nodes: readonly ClusterNode[]
  readonly sessions: number
  readonly working: number
  /** The first of the sessions whose work no node has taken up. */
  readonly waiting: readonly WaitingSession[]
}

const PATIENCE_MS = 5_000
const ROUND_TRIPS = 20
const WATCH_MS = 1_500
const SHOWN_WAITING = 20

export const migrateDatabase = (text: string): Promise<string> =>
  withConnection(text, async (connection, address) => {
    await migrate(connection, address, true)
    return address.shown
  })

export const readCluster = (text: string): Promise<Cluster> =>
  withConnection(text, async (connection, address) => {
    const { schema } = address
    await requireSchema(connection, address)
    const before = await beats(connection, schema)
    await pause(WATCH_MS)
    const rows = await connection.ask(
      `select w.*, (select count(*) from ${schema}.session s where s.owner = w.id and s.published) as taken
       from ${schema}.worker w order by w.host, w.id`,
    )
    const [totals] = await connection.ask(
      `select count(*) as sessions, count(owner) as working from ${schema}.session where published`,
    )
    const waiting = await connection.ask(
      `select s.id, s.workspace, s.format from ${schema}.session s where ${unclaimed(schema, SERVER_TIME)}
       order by s.key limit ${SHOWN_WAITING}`,
    )
    const isAlive = (row: Row): boolean => before.get(String(row["id"])) !== row["beat"]
    const offers = rows.filter(isAlive).map(offerOf)
    return {
      nodes: rows.map((row) => nodeOf(row, isAlive(row))),
      sessions: Number(totals?.["sessions"]),
      working: Number(totals?.["working"]),
      waiting: waiting.map((row) => waitingOf(row, offers)),
    }
  })

const nodeOf = (row: Row, alive: boolean): ClusterNode => ({
  id: String(row["id"]),
  host: String(row["host"]),
  alive,
  beat: Number(row["beat"]),
  leaves: row["draining"] === true,
  places: Number(row["places"]),
  working: Number(row["taken"]),
  workspaces: offerOf(row).workspaces,
  format: Number(row["format"]),
  ...(typeof row["address"] === "string" ? { address: row["address"] } : {}),
})

const waitingOf = (row: Row, offers: readonly Offer[]): WaitingSession => {
  const workspace = String(row["workspace"])
  const found = findStranded({ workspace, format: Number(row["format"]) }, offers)
  return {
    id: String(row["id"]),
    workspace,
    ...(found === undefined ? {} : { reason: describeStranded(found) }),
  }
}

const beats = async (connection: Connection, schema: string): Promise<ReadonlyMap<string, unknown>> => {
  const rows = await connection.ask(`select id, beat from ${schema}.worker`)
  return new Map(rows.map((row) => [String(row["id"]), row["beat"]]))
}

export const checkDatabase = (text: string): Promise<readonly Finding[]> => {
  const heard = Promise.withResolvers<void>()
  return withConnection(
    text,
    async (connection, address) => {
      const settings = await readSettings(connection)
      return [
        versionOf(settings),
        tlsOf(address, await connection.ask("select ssl from pg_stat_ssl where pid = pg_backend_pid()")),
        await roundTrip(connection),
        await clockOf(connection),
        ...durabilityOf(settings),
        replicationOf(
          settings,
          await connection.ask("select application_name, sync_state from pg_stat_replication"),
        ),
        await poolerOf(connection),
        await notifyOf(connection, heard.promise),
        limitsOf(
          settings,
          await connection.ask(
            "select count(*) as used from pg_stat_activity where backend_type = 'client backend'",
          ),
        ),
        await schemaOf(connection, address),
      ]
    },
    {
      prepare: async (query) => void (await query(`listen ${CHECK_CHANNEL}`)),
      onNotification: () => heard.resolve(),
    },
  )
}

const CHECK_CHANNEL = "meridian_check"

const withConnection = async <A>(
  text: string,
  body: (connection: Connection, address: Address) => Promise<A>,
  more: {
    readonly prepare?: (query: Query) => Promise<void>
    readonly onNotification?: (payload: string) => void
  } = {},
): Promise<A> => {
  const address = readAddress(text)
  const connection = openConnection({
    address,
    onAnswer: () => undefined,
    monotonic: machineMs,
    sleep: (ms) => pause(ms),
    patienceMs: PATIENCE_MS,
    ...more,
  })
  try {
    return await body(connection, address)
  } finally {
    await connection.close()
  }
}

type Settings = ReadonlyMap<string, string>

const readSettings = async (connection: Connection): Promise<Settings> => {
  const rows = await connection.ask("select name, setting from pg_settings where name = any($1::text[])", [
    [
      "server_version_num",
      "server_version",
      "fsync",
      "full_page_writes",
      "synchronous_commit",
      "synchronous_standby_names",
      "max_connections",
      "statement_timeout",
      "idle_session_timeout",
    ],
  ])
  return new Map(rows.map((row) => [String(row["name"]), String(row["setting"])]))
}

const OLDEST = 140_000

const versionOf = (settings: Settings): Finding => {
  const found = settings.get("server_version") ?? "unknown"
  return Number(settings.get("server_version_num")) >= OLDEST
    ? { name: "version", verdict: "good", found }
    : { name: "version", verdict: "bad", found, next: "use Postgres 14 or newer." }
}

const tlsOf = ({ tls }: Address, [row]: readonly Row[]): Finding => {
  const encrypted = row?.["ssl"] === true
  if (encrypted) return { name: "encryption", verdict: "good", found: tls }
  return tls === "off"
    ? {
        name: "encryption",
        verdict: "good",
        found: "none; the server is on this machine, or sslmode=disable asks for it",
      }
    : { name: "encryption", verdict: "bad", found: "none", next: "turn on ssl on the server." }
}

const roundTrip = async (connection: Connection): Promise<Finding> => {
  const times: number[] = []
  for (let count = 0; count < ROUND_TRIPS; count += 1) {
    const sent = machineMs()
    await connection.ask("select 1")
    times.push(machineMs() - sent)
  }
  const middle = times.toSorted((left, right) => left - right)[ROUND_TRIPS / 2] ?? 0
  const found = `${middle.toFixed(2)} ms`
  return middle < 5
    ? { name: "round trip", verdict: "good", found }
    : {
        name: "round trip",
        verdict: "warning",
        found,
        next: "put the nodes nearer to the server: a turn is three round trips or more.",
      }
}

/** Leases compare no clocks. Ends of limits and times for people follow the server's where a node's is clearly another one. */
const clockOf = async (connection: Connection): Promise<Finding> => {
  const [row] = await connection.ask(`select ${SERVER_TIME} as now`)
  const apart = Math.abs(Number(row?.["now"]) - machineNow())
  const found = `${(apart / 1_000).toFixed(1)} s from the server's`
  return apart < CLOCKS_APART_MS
    ? { name: "clock", verdict: "good", found }
    : {
        name: "clock",
        verdict: "warning",
        found,
        next: "set the clocks: nodes work anyway, and wait for limits by the server's clock.",
      }
}

const durabilityOf = (settings: Settings): readonly Finding[] =>
  ["fsync", "full_page_writes", "synchronous_commit"].map((name): Finding => {
    const found = settings.get(name) ?? "unknown"
    return found === "off"
      ? {
          name,
          verdict: "bad",
          found,
          next: `set ${name} = on, or what was acknowledged may be lost in a power cut.`,
        }
      : { name, verdict: "good", found }
  })

const replicationOf = (settings: Settings, standbys: readonly Row[]): Finding => {
  const name = "standby"
  if (standbys.length === 0) return { name, verdict: "good", found: "none" }
  const isSynchronous = (settings.get("synchronous_standby_names") ?? "") !== ""
  const found = standbys
    .map((row) => `${String(row["application_name"])} ${String(row["sync_state"])}`)
    .join(", ")
  return isSynchronous
    ? { name, verdict: "good", found }
    : {
        name,
        verdict: "warning",
        found,
        next: "set synchronous_standby_names: a failover to an asynchronous standby loses what was acknowledged.",
      }
}

/** With a pooler that lends a connection per transaction, two questions reach two server processes. */
const poolerOf = async (connection: Connection): Promise<Finding> => {
  const pids = new Set<unknown>()
  for (let count = 0; count < 5; count += 1)
    pids.add((await connection.ask("select pg_backend_pid() as pid"))[0]?.["pid"])
  return pids.size === 1
    ? { name: "pooler", verdict: "good", found: "none that changes connections" }
    : {
        name: "pooler",
        verdict: "bad",
        found: "in transaction mode",
        next: "connect past it: hints and the presence of a node live in one connection.",
      }
}

const notifyOf = async (connection: Connection, heard: Promise<void>): Promise<Finding> => {
  await connection.ask("select pg_notify($1, '')", [CHECK_CHANNEL])
  const arrived = await Promise.race([heard.then(() => true), pause(2_000).then(() => false)])
  return arrived
    ? { name: "hints", verdict: "good", found: "arrive" }
    : {
        name: "hints",
        verdict: "warning",
        found: "do not arrive",
        next: "connect past the pooler; without hints nodes look every two seconds.",
      }
}

const limitsOf = (settings: Settings, [row]: readonly Row[]): Finding => {
  const most = Number(settings.get("max_connections"))
  const used = Number(row?.["used"])
  const timeout = Number(settings.get("statement_timeout"))
  const found = `${used} of ${most} connections, statement_timeout ${timeout === 0 ? "none" : `${timeout} ms`}`
  if (most - used < 20)
    return { name: "limits", verdict: "warning", found, next: "raise max_connections: a node uses five." }
  return timeout > 0 && timeout < 5_000
    ? {
        name: "limits",
        verdict: "warning",
        found,
        next: "raise statement_timeout to 5 s or more for this user.",
      }
    : { name: "limits", verdict: "good", found }
}

const plain = (schema: string): string => schema.replaceAll('"', "")

const schemaOf = async (connection: Connection, { schema }: Address): Promise<Finding> => {
  const [table] = await connection.ask("select to_regclass($1) is not null as there", [`${schema}.store`])
  if (table?.["there"] !== true)
    return {
      name: "schema",
      verdict: "good",
      found: `${plain(schema)}: not there yet; it is made when a node opens it`,
    }
  const [row] = await connection.ask(`select version from ${schema}.store`)
  return { name: "schema", verdict: "good", found: `${plain(schema)}, version ${Number(row?.["version"])}` }
}
