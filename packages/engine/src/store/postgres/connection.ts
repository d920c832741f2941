/**
 * One connection to the server, reopened when it breaks. A question whose answer got lost is asked again, so every
 * statement sent through `ask` may run twice.
 */
import { Failure, oneLine, systemCode } from "@meridian/protocol"
import type { Client, ClientConfig, Notification, QueryResultRow } from "pg"

import type { Address, Host } from "./address.ts"

export interface Connection {
  /** Repeats the question until an answer comes or our patience ends. */
  readonly ask: (sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>
  /** Runs several statements as one transaction, committed or rolled back. All of it may be repeated. */
  readonly transact: <A>(body: (query: Query) => Promise<Settled<A>>) => Promise<A>
  /** How many questions wait for an answer. */
  readonly pending: () => number
  readonly close: () => Promise<void>
}

export type Row = Readonly<Record<string, unknown>>
export type Query = (sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>

export interface Settled<A> {
  readonly keep: boolean
  readonly answer: A
}

export interface ConnectionOptions {
  readonly address: Address
  /** Called when the server has answered a question that was sent at this time on our monotonic clock. */
  readonly onAnswer: (sentAt: number) => void
  readonly monotonic: () => number
  readonly sleep: (ms: number) => Promise<void>
  /** How long to keep trying. */
  readonly patienceMs: number
  /** Runs on every new connection before anything else. */
  readonly prepare?: (query: Query) => Promise<void>
  readonly onNotification?: (payload: string) => void
}

/** A connection without an answer for this long counts as dead. */
const ANSWER_MS = 5_000
const CONNECT_MS = 3_000
const FIRST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 500

export const openConnection = (options: ConnectionOptions): Connection => {
  const { monotonic, sleep, onAnswer } = options
  let client: Promise<Client> | undefined
  let closed = false
  /** There are few statements, always with the same text. A name lets the server plan each once per connection. */
  const names = new Map<string, string>()
  const nameOf = (sql: string): string => {
    const name = names.get(sql) ?? `s${names.size}`
    names.set(sql, name)
    return name
  }
  /** One question at a time. A transaction counts as a single question. */
  let turn: Promise<unknown> = Promise.resolve()

  const current = (): Promise<Client> => {
    client ??= connect(options, () => {
      client = undefined
    }).catch((cause: unknown) => {
      client = undefined
      throw cause
    })
    return client
  }

  const leave = async (): Promise<void> => {
    const leaving = client
    client = undefined
    await leaving?.then((opened) => opened.end()).catch(() => undefined)
  }

  const persist = async <A>(body: (query: Query) => Promise<A>): Promise<A> => {
    const deadline = monotonic() + options.patienceMs
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      if (closed) throw new Failure("ENGINE_CLOSED")
      const sentAt = monotonic()
      try {
        const opened = await current()
        const answer = await body(async (sql, values) => {
          if (values === undefined) return (await opened.query<QueryResultRow>(sql)).rows
          const prepared = { name: nameOf(sql), text: sql, values: [...values] }
          return (await opened.query<QueryResultRow>(prepared)).rows
        })
        onAnswer(sentAt)
        return answer
      } catch (cause) {
        if (cause instanceof TypeError || cause instanceof RangeError) throw cause
        const trouble = troubleOf(cause)
        if (trouble === "answer") onAnswer(sentAt)
        // A connection in an unknown state is not kept. The next question uses a new one.
        if (trouble !== "answer") await leave()
        if (trouble === "answer" || trouble === "refused" || closed || monotonic() > deadline)
          throw translate(options.address, cause, trouble)
        await sleep(pause)
      }
    }
  }

  let pending = 0
  const inTurn = <A>(body: () => Promise<A>): Promise<A> => {
    pending += 1
    const answer = turn.then(body).finally(() => {
      pending -= 1
    })
    turn = answer.catch(() => undefined)
    return answer
  }

  return {
    ask: (sql, values) => inTurn(() => persist((query) => query(sql, values))),
    transact: (body) =>
      inTurn(() =>
        persist(async (query) => {
          await query("begin")
          try {
            const { keep, answer } = await body(query)
            await query(keep ? "commit" : "rollback")
            return answer
          } catch (cause) {
            if (troubleOf(cause) === "answer") await query("rollback")
            throw cause
          }
        }),
      ),
    pending: () => pending,
    close: async () => {
      closed = true
      await leave()
    },
  }
}

const connect = async (options: ConnectionOptions, onBroken: () => void): Promise<Client> => {
  const { default: pg } = await import("pg")
  let trouble: unknown
  // The first host that accepts writes. The others are standbys or unreachable.
  for (const host of options.address.hosts) {
    const client = new pg.Client(configOf(options, host))
    client.on("error", onBroken)
    client.on("end", onBroken)
    client.on("notification", ({ payload = "" }: Notification) => options.onNotification?.(payload))
    try {
      await client.connect()
      const query: Query = async (sql, values) =>
        (await client.query<QueryResultRow>(sql, values === undefined ? [] : [...values])).rows
      await requireWritable(options.address, query)
      await options.prepare?.(query)
      return client
    } catch (cause) {
      trouble = cause
      await client.end().catch(() => undefined)
    }
  }
  throw trouble
}

const requireWritable = async (address: Address, query: Query): Promise<void> => {
  const [row] = await query("select pg_is_in_recovery() as standby")
  if (row?.["standby"] === true) throw new Failure("DATABASE_STANDBY", { database: address.shown })
}

const configOf = ({ address }: ConnectionOptions, { host, port }: Host): ClientConfig => ({
  host,
  port,
  database: address.database,
  ...(address.user === undefined ? {} : { user: address.user }),
  ...(address.password === undefined ? {} : { password: address.password }),
  ssl: address.tls === "off" ? false : { rejectUnauthorized: address.tls === "verified" },
  connectionTimeoutMillis: CONNECT_MS,
  query_timeout: ANSWER_MS,
  keepAlive: true,
  application_name: "meridian",
  types: { getTypeParser: (oid: number) => PARSERS.get(oid) ?? String },
})

/** Only the types that our statements return. A count fits into a number: no log has 2^53 events. */
const PARSERS = new Map<number, (text: string) => unknown>([
  [16, (text) => text === "t"],
  [20, Number],
  [23, Number],
  [
    1009,
    (text) =>
      text
        .slice(1, -1)
        .split(",")
        .filter((name) => name !== "")
        .map((name) => name.replaceAll('"', "")),
  ],
  [17, (text) => Buffer.from(text.slice(2), "hex")],
])

/**
 * `answer`: the server refused this statement, and the connection is good. `refused`: the server does not accept us at all.
 * `away`: the outcome is unknown.
 */
type Trouble = "answer" | "refused" | "away"

const troubleOf = (cause: unknown): Trouble => {
  // A standby may be promoted while we wait.
  if (cause instanceof Failure) return cause.code === "DATABASE_STANDBY" ? "away" : "answer"
  if (isWithoutTls(cause)) return "refused"
  const code = stateOf(cause)
  if (code === undefined) return "away"
  if (/^(?:28|3D|42501)/.test(code)) return "refused"
  // Shutdown, startup, too many connections, a dropped session; or our own wait was cut short.
  if (/^(?:08|57|53300|25006|40)/.test(code)) return "away"
  return "answer"
}

/** The five-character error code of a server. */
export const stateOf = (cause: unknown): string | undefined =>
  /^[0-9A-Z]{5}$/.test(systemCode(cause)) ? systemCode(cause) : undefined

/** The server has no encryption, or a certificate that this machine does not trust. */
const isWithoutTls = (cause: unknown): boolean => {
  if (!(cause instanceof Error)) return false
  if (cause.message.includes("does not support SSL")) return true
  return /CERT|SELF_SIGNED|ALTNAME|^ERR_TLS|^EPROTO$/.test(systemCode(cause))
}

export const isUniqueViolation = (cause: unknown): boolean => stateOf(cause) === "23505"

const translate = ({ shown }: Address, cause: unknown, trouble: Trouble): unknown => {
  if (cause instanceof Failure) return cause
  if (isWithoutTls(cause))
    return new Failure("DATABASE_TLS", { database: shown, why: oneLine(String(cause), 300) }, { cause })
  const why = cause instanceof Error && cause.message !== "" ? cause.message : "it did not answer"
  if (trouble === "away" || trouble === "refused")
    return new Failure(
      trouble === "away" ? "DATABASE_UNREACHABLE" : "DATABASE_REFUSED",
      { database: shown, why },
      { cause },
    )
  // A statement of ours is there twice, or gone: somebody lends this connection to others between our questions.
  if (["42P05", "26000"].includes(stateOf(cause) ?? ""))
    return new Failure("DATABASE_POOLED", { database: shown }, { cause })
  // One of our tables no longer exists.
  if (stateOf(cause) === "42P01")
    return new Failure("DATABASE_WENT_BACK", { database: shown, why: "its tables are gone" }, { cause })
  // Out of memory, of disk, or at some other limit of the server.
  if (stateOf(cause)?.startsWith("53") === true)
    return new Failure("DATABASE_UNWRITABLE", { file: shown, why }, { cause })
  return cause
}

/** Several connections as one. A question goes to the one with the fewest pending. */
export const shareConnections = (connections: readonly Connection[]): Connection => {
  const idlest = (): Connection => {
    const [first, ...rest] = connections
    if (first === undefined) throw new Error("there is no connection to share")
    return rest.reduce((best, next) => (next.pending() < best.pending() ? next : best), first)
  }
  return {
    ask: (sql, values) => idlest().ask(sql, values),
    transact: (body) => idlest().transact(body),
    pending: () => connections.reduce((sum, connection) => sum + connection.pending(), 0),
    close: async () => {
      await Promise.all(connections.map((connection) => connection.close()))
    },
  }
}
