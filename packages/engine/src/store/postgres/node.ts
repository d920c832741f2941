/**
 * One node of a cluster: its connections, its sign of life and its hints. It knows when it last heard from the server and
 * what that proves: an answer shows that we had our leases when the question was sent.
 */
import { randomInt } from "node:crypto"

import type { Failure } from "@meridian/protocol"
import { Clock, Duration, Effect, Latch, type Scope } from "effect"

import { SHARED } from "../../domain/workspaces.ts"
import { Ids } from "../../port/ids.ts"
import { inBackground, monotonicMs } from "../../port/time.ts"
import { readAddress, type Address } from "./address.ts"
import { ask } from "./ask.ts"
import {
  openConnection,
  shareConnections,
  type Connection,
  type ConnectionOptions,
  type Query,
} from "./connection.ts"
import { openHints, type Hints } from "./hints.ts"
import { agreeOnToken, migrate, requireOwnConnection } from "./migrate.ts"
import { FORMAT } from "./schema.ts"
import { openWorkers, type NodeOffer, type Workers } from "./workers.ts"

export interface NodeOptions {
  readonly address: string
  readonly leaseMs: number
  /** Updates an older schema. */
  readonly migrate?: boolean
  /** False: no places. The node admits and reads, and works in no workspace. */
  readonly offer?: Partial<NodeOffer>
  /** The configured token of the cluster, the same for all of its nodes. */
  readonly token?: string | undefined
  /** A test simulates that this node's process is gone: it gives no more signs of life. */
  readonly isGone?: () => boolean
}

export interface Node {
  readonly address: Address
  /** Identifies the schema, whatever address leads to it. */
  readonly identity: string
  readonly offer: NodeOffer
  /** Milliseconds since 1970, by the clock of this machine. */
  readonly localTime: () => number
  /** By which nodes recognise each other. */
  readonly token: string
  readonly reads: Connection
  /** Appends travel on these: while one waits for the server's disk, the other fills. */
  readonly lanes: readonly Connection[]
  readonly workers: Workers
  readonly hints: Hints
  readonly monotonic: () => number
  /** The time since the last answered question was sent. */
  readonly silentMs: () => number
  /** No answer came for so long that others may soon take over, so our drains end on their own. */
  readonly isSilent: () => boolean
  /** How long from now no other node may take our leases. */
  readonly provenMs: () => number
  /** Repeats something for as long as the node is open. After a failure the next round tries again. */
  readonly every: (ms: number, body: () => Promise<unknown>) => Effect.Effect<unknown, never, Scope.Scope>
}

/** More lanes would only make the groups smaller. */
const LANES = 2
const READERS = 2
/** How long a hint waits for others to go with it. */
const HINT_MS = 2
const DEFAULT_OFFER: NodeOffer = { places: 200, workspaces: [SHARED], format: FORMAT }
/** After this part of a lease without an answer, our drains end on their own. No other node may take over before. */
const SILENT_PART = 0.7
/** After this part our commands are ended from outside, because we may be frozen. */
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

    const reads = shareConnections(
      yield* Effect.all(Array.from({ length: READERS }, () => link({ prepare: planOnce }))),
    )
    const lanes = yield* Effect.all(Array.from({ length: LANES }, () => link({ prepare: planAppends })))
    yield* ask(() => migrate(reads, address, options.migrate ?? false))

    const { schema } = address
    const identity = yield* ask(() => identityOf(reads, schema))
    const token = yield* ask(() => agreeOnToken(reads, address, options.token, offer.places > 0))
    const hintsDue = Latch.makeUnsafe(false)
    const hints = openHints({
      schema,
      me,
      monotonic,
      connection: () => control,
      onDue: () => hintsDue.openUnsafe(),
    })
    const workers = openWorkers({
      connection: reads,
      schema,
      me,
      presence: randomInt(2 ** 31 - 1),
      leaseMs,
      offer,
      monotonic,
    })
    /** Holds our lock and receives hints, so it must bypass any pooler. */
    const control = yield* link({
      prepare: async (query) => {
        await requireOwnConnection(query, me, address.shown)
        await workers.takePlace(query)
        await hints.listen(query)
      },
      onNotification: hints.receive,
    })
    const beat = async (): Promise<void> => {
      const sentAt = monotonic()
      hints.noteOthers(await workers.beat(), sentAt)
    }
    yield* ask(beat)
    yield* ask(hints.greet)
    yield* Effect.addFinalizer(() => Effect.ignore(ask(async () => (isGone() ? undefined : workers.leave()))))

    const every: Node["every"] = (ms, body) =>
      Effect.ignore(ask(body)).pipe(Effect.delay(ms), Effect.forever, inBackground, Effect.forkScoped)
    yield* every(Math.max(20, Math.floor(leaseMs / 6)), () => (isGone() ? control.close() : beat()))
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
      localTime: () => clock.currentTimeMillisUnsafe(),
      reads,
      lanes,
      workers,
      hints,
      monotonic,
      silentMs,
      isSilent,
      provenMs: () => Math.max(0, leaseMs * LAST_PART - silentMs()),
      every,
    }
  })

/**
 * Our statements differ in values, never in what they need. Planning one anew costs more than running it, and the server
 * would do so five times before it keeps a plan.
 */
const planOnce = async (query: Query): Promise<void> => {
  await query("set plan_cache_mode = force_generic_plan")
}

/** Appends read every table by its key. The statistics of young tables suggest otherwise. */
const planAppends = async (query: Query): Promise<void> => {
  await planOnce(query)
  await query("set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off")
}

const identityOf = async (connection: Connection, schema: string): Promise<string> => {
  const [row] = await connection.ask(`select id from ${schema}.store`)
  return String(row?.["id"])
}
