/**
 * The store's port over a server. The log, its heads and the lists over all sessions are on the server; what is read of one
 * session is derived here (`mirror.ts`). What an answer proves, it proves as of when the question was sent.
 */
import { randomInt, randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { Failure } from "@meridian/protocol"
import { Clock, Duration, Effect, Latch, Layer, Queue, Stream, type Scope } from "effect"

import { Ids } from "../../port/ids.ts"
import {
  Store,
  type Append,
  type Appended,
  type Asked,
  type Change,
  type Draft,
  type Leases,
  type SessionSummary,
  type StoreVerbs,
} from "../../port/store.ts"
import { inBackground, monotonicMs } from "../../port/time.ts"
import { readAddress } from "./address.ts"
import { openAppendQueue } from "./append-queue.ts"
import { sendInAnyCase, type Outcome, type Write } from "./append.ts"
import { openConnection, shareConnections, type ConnectionOptions } from "./connection.ts"
import { createDrafts } from "./drafts.ts"
import { openHints } from "./hints.ts"
import { openLeaseBook } from "./leases.ts"
import { migrate } from "./migrate.ts"
import { openMirror } from "./mirror.ts"
import { createOutputs } from "./outputs.ts"
import { createSessionReader } from "./reader.ts"
import { createServerRows, type Head } from "./rows.ts"
import { openWorkers } from "./workers.ts"
import { createWriter } from "./writer.ts"

export interface PostgresOptions {
  readonly address: string
  /** Where the address has none. */
  readonly password?: string | undefined
  readonly leaseMs: number
  /** An older schema is brought up to date. */
  readonly migrate?: boolean
  /** How many sessions this node works on at once; 0: it admits and reads, and runs nothing. */
  readonly places?: number
  /** A test says that this node's process is gone: no sign of life comes from it any more. */
  readonly isGone?: () => boolean
}

export const postgresStore = (options: PostgresOptions): Layer.Layer<Store, Failure, Ids> =>
  Layer.effect(Store, openPostgresStore(options))

/** While one lane waits for the server's disk the other fills; more of them only make smaller groups. */
const LANES = 2
const READERS = 2
const MOST_AT_ONCE = 64
/** Hints wait so long for others to go with. */
const HINT_MS = 2
const REST_MS = 50
const DEFAULT_PLACES = 200
/** A node that admits an input takes it up at once; after so long it has, or will not. */
const AFTER_HINT_MS = 30
/** Without an answer for this part of a lease our drains end by themselves: nobody may take over before. */
const SILENT_PART = 0.7
/** And after this part our commands are ended from outside: we may be frozen. */
const LAST_PART = 0.8
/** An intent that was sent longer ago is confirmed before we act on it. */
const FRESH_MS = 1_000

export const openPostgresStore = (
  options: PostgresOptions,
): Effect.Effect<StoreVerbs, Failure, Ids | Scope.Scope> =>
  Effect.gen(function* () {
    const { leaseMs, places = DEFAULT_PLACES, isGone = () => false } = options
    const address = yield* ask(async () => readAddress(options.address))
    const { schema, shown } = address
    const clock = yield* Clock.Clock
    const me = (yield* Ids).next("own_")
    const monotonic = (): number => monotonicMs(clock)
    let heardAt = monotonic()
    const silentMs = (): number => monotonic() - heardAt

    const link = (more: Partial<ConnectionOptions> = {}) =>
      Effect.acquireRelease(
        Effect.sync(() =>
          openConnection({
            address,
            password: address.password ?? options.password,
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

    const mirror = yield* Effect.acquireRelease(Effect.sync(openMirror), (opened) =>
      Effect.sync(opened.close),
    )
    const hintsDue = Latch.makeUnsafe(false)
    const hints = openHints({ schema, me, connection: () => control, onDue: () => hintsDue.openUnsafe() })
    const workers = openWorkers({
      connection: reads,
      schema,
      me,
      presence: randomInt(2 ** 31 - 1),
      leaseMs,
      places,
      monotonic,
    })
    const control = yield* link({
      prepare: async (query) => {
        await workers.takePlace(query)
        await hints.listen(query)
      },
      onNotification: hints.receive,
    })
    const leaseBook = openLeaseBook({ connection: reads, schema, workers, places })
    const rows = createServerRows(reads, schema)
    const reader = createSessionReader({ rows, mirror, database: shown })
    const queue = openAppendQueue<Write, Outcome>({
      lanes: lanes.map((lane) => (writes) => sendInAnyCase(lane.ask, schema, writes)),
      most: MOST_AT_ONCE,
    })
    const newMark = (): string => randomUUID()
    const writer = createWriter({
      schema,
      connection: reads,
      queue,
      mirror,
      reader,
      newMark,
      onStored: hints.tell,
    })
    const drafts = createDrafts({ connection: reads, schema, workers, newMark, remove: writer.remove })
    const folder = yield* openFolder
    const outputs = createOutputs(reads, schema, folder)

    yield* ask(workers.beat)
    yield* ask(() => control.ask("select 1"))
    yield* Effect.addFinalizer(() =>
      Effect.ignore(
        ask(async () => {
          if (isGone()) return
          await leaseBook.leave()
          await drafts.leave()
          await workers.leave()
        }),
      ),
    )

    const proven = new Set<(ms: number) => void>()
    const every = (ms: number, body: () => Promise<unknown>) =>
      Effect.ignore(ask(body)).pipe(Effect.delay(ms), Effect.forever, inBackground, Effect.forkScoped)
    yield* every(Math.max(20, Math.floor(leaseMs / 6)), async () => {
      if (isGone()) return control.close()
      await workers.beat()
      const left = leaseMs * LAST_PART - silentMs()
      for (const tell of proven) tell(Math.max(0, left))
      return leaseBook.giveBack()
    })
    yield* every(Math.max(20, Math.floor(leaseMs / 10)), async () => {
      if (silentMs() > leaseMs * SILENT_PART) hints.tellAll()
    })
    const restDue = Latch.makeUnsafe(false)
    yield* restDue.await.pipe(
      Effect.andThen(restDue.close),
      Effect.andThen(Effect.delay(Effect.ignore(ask(leaseBook.giveBack)), REST_MS)),
      Effect.forever,
      inBackground,
      Effect.forkScoped,
    )
    yield* hintsDue.await.pipe(
      Effect.andThen(Effect.delay(hintsDue.close, HINT_MS)),
      Effect.andThen(Effect.ignore(ask(hints.send))),
      Effect.forever,
      inBackground,
      Effect.forkScoped,
    )

    const summaryOf = async ({
      id,
      owner,
      isAsking,
      isAnswered,
      summary,
      seq,
    }: Head): Promise<SessionSummary> => ({
      ...summary,
      id,
      seq,
      isAsking,
      isAnswered,
      isHeldElsewhere: await leaseBook.isHeldElsewhere(owner),
    })

    const append = (given: Append): Effect.Effect<Appended, Failure> =>
      Effect.suspend(() => {
        const sentAt = monotonic()
        return Effect.map(
          ask(() => writer.append(given)),
          (answer) => (answer.kind === "stored" ? { kind: "committed", safe: safe(given, sentAt) } : answer),
        )
      })

    /** What is committed is on the server's disk. Whoever is about to act must also still be the one to do it. */
    const safe = ({ durability, fence, session }: Append, sentAt: number): Effect.Effect<void, Failure> => {
      if (durability !== "act" || fence === undefined) return Effect.void
      return Effect.suspend(() =>
        monotonic() - sentAt < FRESH_MS
          ? Effect.void
          : Effect.flatMap(
              ask(() => writer.holds(fence)),
              (holds) => (holds ? Effect.void : Effect.fail(new Failure("FENCED", { session }))),
            ),
      )
    }

    const abandoned = async (): Promise<readonly string[]> => {
      await drafts.sweep()
      await workers.sweep()
      const owners = await leaseBook.ownersElsewhere()
      const lost = await workers.lost([...new Set(owners.values())])
      return [...owners].flatMap(([session, owner]) => (lost.has(owner) ? [session] : []))
    }

    const isWorkLeft = async (): Promise<boolean> =>
      places > 0 && ((await leaseBook.canClaim()) || (await abandoned()).length > 0)
    const hinted = Latch.makeUnsafe(false)
    yield* Effect.acquireRelease(
      Effect.sync(() => hints.onHint(() => void hinted.openUnsafe())),
      (leave) => Effect.sync(leave),
    )
    /** After a hint, or now and then: whether there is work that nobody does. */
    const nextLook = Effect.suspend(() =>
      // Whoever admitted it goes first. The others come one after the other, not all at once.
      Effect.andThen(hinted.await, Effect.sleep(AFTER_HINT_MS + randomInt(AFTER_HINT_MS))),
    ).pipe(
      Effect.raceFirst(Effect.sleep(Math.max(50, Math.floor(leaseMs / 4)))),
      Effect.andThen(hinted.close),
      Effect.andThen(Effect.orElseSucceed(ask(isWorkLeft), () => false)),
      inBackground,
    )

    const leases: Leases = {
      works: places > 0,
      patienceMs: leaseMs * 2,
      ask: (demand) => ask(() => hints.ask(demand)),
      asked: Stream.callback<Asked>((told) =>
        Effect.acquireRelease(
          Effect.sync(() => hints.onAsked((demand) => void Queue.offerUnsafe(told, demand))),
          (leave) => Effect.sync(leave),
        ),
      ),
      acquire: (session) => ask(() => leaseBook.acquire(session)),
      renew: (fence) =>
        ask(async () => {
          if (silentMs() > leaseMs * SILENT_PART) return "lost"
          return (await leaseBook.isCurrent(fence)) ? "kept" : "lost"
        }),
      rest: (fence) =>
        Effect.sync(() => {
          leaseBook.rest(fence)
          restDue.openUnsafe()
        }),
      release: (fence) => Effect.ignore(ask(() => leaseBook.release(fence))),
      isHeldElsewhere: (session) =>
        ask(async () => leaseBook.isHeldElsewhere((await rows.head(session))?.owner)),
      abandoned: ask(abandoned),
      proofs: Stream.callback<number>((told) =>
        Effect.acquireRelease(
          Effect.sync(() => {
            const tell = (ms: number): void => void Queue.offerUnsafe(told, ms)
            proven.add(tell)
            return () => void proven.delete(tell)
          }),
          (leave) => Effect.sync(leave),
        ),
      ),
      lost: Stream.fromEffectRepeat(nextLook).pipe(
        Stream.filter((isThere) => isThere),
        Stream.map(() => undefined),
      ),
    }

    return {
      name: shown,
      append,
      session: (id) =>
        ask(async () => {
          const head = await rows.head(id)
          return head === undefined ? undefined : summaryOf(head)
        }),
      remove: (id) => remove(id),
      events: (range) => ask(() => reader.read(range.session, () => mirror.events(range), [])),
      eventTexts: (range) => ask(() => reader.read(range.session, () => mirror.texts(range), [])),
      compactions: (session) => ask(() => reader.read(session, () => mirror.compactions(session), [])),
      messages: (session, stretch) =>
        ask(() => reader.read(session, () => mirror.messages(session, stretch), [])),
      message: (session, id) => ask(() => reader.read(session, () => mirror.message(session, id), undefined)),
      inputs: (session, range) => ask(() => reader.read(session, () => mirror.inputs(session, range), [])),
      input: (id) =>
        ask(async () => {
          const session = await rows.sessionOf("input", id)
          return session === undefined ? undefined : reader.read(session, () => mirror.input(id), undefined)
        }),
      search: (session, words) => ask(() => reader.read(session, () => mirror.search(session, words), [])),
      sessions: (stretch) =>
        ask(async () => {
          const found = await rows.sessions(stretch)
          return Promise.all(found.map(async ({ place, item }) => ({ place, item: await summaryOf(item) })))
        }),
      requests: (session) =>
        ask(async () => {
          const asking = session === undefined ? await rows.asking() : [session]
          const found = []
          for (const id of asking) found.push(...(await reader.read(id, () => mirror.requests(id), [])))
          return found
        }),
      request: (id) =>
        ask(async () => {
          const session = await rows.sessionOf("request", id)
          if (session === undefined) return undefined
          const open = await reader.read(session, () => mirror.requests(session), [])
          return open.find(({ event }) => event.data.requestID === id)
        }),
      approvals: (project) => ask(() => rows.approvals(project)),
      givenApprovals: ask(rows.givenApprovals),
      approvedIn: (approval) => ask(() => rows.approvedIn(approval)),
      runnable: ask(leaseBook.claim),
      parked: ask(rows.parked),
      draft: (creation) =>
        Effect.acquireRelease(
          ask(() => drafts.open(creation)),
          (draft) => Effect.ignore(ask(draft.discard)),
        ).pipe(
          Effect.map((draft): Draft => ({
            name: String(draft.key),
            append: (events) => ask(() => draft.append(events)),
            publish: Effect.tap(ask(draft.publish), (published) =>
              Effect.sync(() => {
                if (published === "published") hints.tell(creation.data.sessionID)
              }),
            ),
          })),
        ),
      leases,
      changes: Stream.callback<Change>((told) =>
        Effect.acquireRelease(
          Effect.sync(() => hints.onHint((session) => void Queue.offerUnsafe(told, { session }))),
          (leave) => Effect.sync(leave),
        ),
      ),
      outputs: {
        folder,
        keep: (name) => ask(() => outputs.keep(name)),
        fetch: (name) => ask(() => outputs.fetch(name)),
      },
    }

    function remove(id: string): Effect.Effect<"removed" | "missing" | "held", Failure> {
      return ask(async () => {
        const head = await rows.head(id)
        if (head === undefined) return "missing"
        // Taking it moves the number: whoever still believes to work there cannot write.
        const acquired = await leaseBook.acquire(id)
        if (acquired.kind === "held") return "held"
        await writer.remove(head.key)
        await leaseBook.release(acquired.fence)
        mirror.drop(id)
        hints.tell(id)
        return "removed"
      })
    }
  })

/** What a server says no to is a failure with a code; a bug stays one. */
const ask = <A>(body: () => Promise<A>): Effect.Effect<A, Failure> =>
  Effect.flatten(
    Effect.promise(() =>
      body().then(
        (answer) => Effect.succeed(answer),
        (cause: unknown) => (cause instanceof Failure ? Effect.fail(cause) : Effect.die(cause)),
      ),
    ),
  )

const openFolder: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "meridian-output-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true })),
)
