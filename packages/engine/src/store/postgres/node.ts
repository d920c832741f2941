/**
 * One node of a cluster: its connections, its sign of life and its hints. It knows when it last heard from the server, and
 * what that proves: an answer says that we had our leases when the question was sent.
 */
import { randomInt } from "node:crypto"

import type { Failure } from "@meridian/protocol"
import { Clock, Duration, Effect, Latch, type Scope } from "effect"

import { SHARED } from "../../domain/workspaces.ts"
import { Ids } from "../../port/ids.ts"
import { inBackground, monotonicMs } from "../../port/time.ts"
import { readAddress, type Address } from "./address.ts"
import { ask } from "./ask.ts"
import { openConnection, shareConnections, type Connection, type ConnectionOptions } from "./connection.ts"
import { openHints, type Hints } from "./hints.ts"
import { agreeOnToken, migrate, requireOwnConnection } from "./migrate.ts"
import { FORMAT } from "./schema.ts"
import { openWorkers, type NodeOffer, type Workers } from "./workers.ts"

export interface NodeOptions {
  readonly address: string
  readonly leaseMs: number
  /** An older schema is brought up to date. */
  readonly migrate?: boolean
  /** Without it nothing but places: it admits and reads, and works in no workspace. */
  readonly offer?: Partial<NodeOffer>
  /** Of the cluster, if people chose one: all of its nodes have the same. */
  readonly token?: string | undefined
  /** A test says that this node's process is gone: no sign of life comes from it any more. */
  readonly isGone?: () => boolean
}

export interface Node {
  readonly address: Address
  /** Of the schema, whichever way leads to it. */
  readonly identity: string
  readonly offer: NodeOffer
  readonly wall: () => number
  /** By which nodes know each other. */
  readonly token: string
  readonly reads: Connection
  /** Appends travel on these: while one waits for the server's disk the other fills. */
  readonly lanes: readonly Connection[]
  readonly workers: Workers
  readonly hints: Hints
  readonly monotonic: () => number
  /** No answer came for so long that others may soon take over: our drains end by themselves. */
  readonly isSilent: () => boolean
  /** How long nobody else may take our leases, from now. */
  readonly provenMs: () => number
  /** Does something again and again, for as long as the node is open. A failure waits for the next time. */
  readonly every: (ms: number, body: () => Promise<unknown>) => Effect.Effect<unknown, never, Scope.Scope>
}

/** More lanes would only make smaller groups. */
const LANES = 2
const READERS = 2
/** Hints wait so long for others to go with. */
const HINT_MS = 2
const DEFAULT_OFFER: NodeOffer = { places: 200, workspaces: [SHARED], format: FORMAT }
/** Without an answer for this part of a lease our drains end by themselves: nobody may take over before. */
const SILENT_PART = 0.7
/** And after this part our commands are ended from outside: we may be frozen. */
const LAST_PART = 0.8

export const openNode = (options: NodeOptions): Effect.Effect<Node, Failure, Ids | Scope.Scope> =>
  Effect.gen(function* () {
    const { leaseMs, isGone = () => false } = options
    const offer: NodeOffer = { ...DEFAULT_OFFER, ...options.offer }
    const address = yield* ask(async () => readAddress(options.address))
    const clock = yield* Clock.Clock
    const me = (yield* Ids).next("own_")
    const monotonic = (): number => monotonicMs(clock)
    let heardAt = monotonic()
    const silentMs = (): number => monotonic() - heardAt
    const isSilent = (): boolean => silentMs() > leaseMs * SILENT_PART

    const link = (more: Partial<ConnectionOptions> = {}) =>
      Effect.acquireRelease(
        Effect.sync(() =>
          openConnection({
            address,
            monotonic,
            sleep: (ms) => Effect.runPromise(clock.sleep(Duration.millis(ms))),
            patienceMs: leaseMs,
            onAnswer: (sentAt) => {
              heardAt = Math.max(heardAt, sentAt)
            },
            ...more,
          }),
        ),
        (connection) => Effect.promise(connection.close),
      )

    const reads = shareConnections(yield* Effect.all(Array.from({ length: READERS }, () => link())))
    const lanes = yield* Effect.all(Array.from({ length: LANES }, () => link()))
    yield* ask(() => migrate(reads, address, options.migrate ?? false))

    const { schema } = address
    const identity = yield* ask(() => identityOf(reads, schema))
    const token = yield* ask(() => agreeOnToken(reads, address, options.token, offer.places > 0))
    const hintsDue = Latch.makeUnsafe(false)
    const hints = openHints({ schema, me, connection: () => control, onDue: () => hintsDue.openUnsafe() })
    const workers = openWorkers({
      connection: reads,
      schema,
      me,
      presence: randomInt(2 ** 31 - 1),
      leaseMs,
      offer,
      monotonic,
    })
    /** Carries our lock and hears hints: past every pooler. */
    const control = yield* link({
      prepare: async (query) => {
        await requireOwnConnection(query, me, address.shown)
        await workers.takePlace(query)
        await hints.listen(query)
      },
      onNotification: hints.receive,
    })
    yield* ask(workers.beat)
    yield* ask(() => control.ask("select 1"))
    yield* Effect.addFinalizer(() => Effect.ignore(ask(async () => (isGone() ? undefined : workers.leave()))))

    const every: Node["every"] = (ms, body) =>
      Effect.ignore(ask(body)).pipe(Effect.delay(ms), Effect.forever, inBackground, Effect.forkScoped)
    yield* every(Math.max(20, Math.floor(leaseMs / 6)), () => (isGone() ? control.close() : workers.beat()))
    yield* every(Math.max(20, Math.floor(leaseMs / 10)), async () => {
      if (isSilent()) hints.tellAll()
    })
    yield* hintsDue.await.pipe(
      Effect.andThen(Effect.delay(hintsDue.close, HINT_MS)),
      Effect.andThen(Effect.ignore(ask(hints.send))),
      Effect.forever,
      inBackground,
      Effect.forkScoped,
    )
    return {
      address,
      identity,
      offer,
      token,
      wall: () => clock.currentTimeMillisUnsafe(),
      reads,
      lanes,
      workers,
      hints,
      monotonic,
      isSilent,
      provenMs: () => Math.max(0, leaseMs * LAST_PART - silentMs()),
      every,
    }
  })

const identityOf = async (connection: Connection, schema: string): Promise<string> => {
  const [row] = await connection.ask(`select id from ${schema}.store`)
  return String(row?.["id"])
}
