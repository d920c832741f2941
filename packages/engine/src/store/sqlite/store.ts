/**
 * SQLite behind the store port: one file, or memory. Every answer is immediate, except what waits for a commit or a disk.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import type { Failure } from "@meridian/protocol"
import { Clock, Effect, Latch, Stream, type Layer, type Scope } from "effect"

import { LIMITS } from "../../domain/limits.ts"
import { fromThrowing } from "../../port/from-throwing.ts"
import { Ids } from "../../port/ids.ts"
import { storeLayer, type KeptOutputs, type OpenedStore } from "../../port/kept-outputs.ts"
import { sayLeaseLost } from "../../port/say-aloud.ts"
import type { Draft, Fence, Leases, Store, StoreVerbs } from "../../port/store.ts"
import { inBackground, monotonicMs } from "../../port/time.ts"
import { createAppend } from "./append.ts"
import { openDatabase, type Database, type DatabaseOptions } from "./database.ts"
import { createDrafts, type Drafts } from "./drafts.ts"
import { createEventReader, type EventReader } from "./events.ts"
import { openLeaseTable, type KeyFence, type LeaseTable } from "./leases.ts"
import { createLists } from "./lists.ts"
import { createMessageReader } from "./messages.ts"
import { realProcesses, type Processes } from "./processes.ts"
import { createProjector } from "./projector.ts"
import { createRemoval } from "./removal.ts"
import { createSearch } from "./search.ts"

export interface SqliteOptions extends DatabaseOptions {
  readonly leaseMs: number
  readonly processes?: Processes
}

export const sqliteStore = (options: SqliteOptions): Layer.Layer<Store | KeptOutputs, Failure, Ids> =>
  storeLayer(openSqliteStore(options))

export const openSqliteStore = (
  options: SqliteOptions,
): Effect.Effect<OpenedStore, Failure, Ids | Scope.Scope> =>
  Effect.gen(function* () {
    const { file, leaseMs, processes = realProcesses() } = options
    const clock = yield* Clock.Clock
    const ids = yield* Ids
    const monotonic = (): number => monotonicMs(clock)
    const database = yield* Effect.acquireRelease(
      fromThrowing(() => openDatabase({ ...options, monotonic })),
      (opened) => Effect.sync(opened.close),
    )
    const table = yield* Effect.acquireRelease(
      database.ask(() =>
        openLeaseTable({
          database,
          processes,
          leaseMs,
          me: ids.next("own_"),
          monotonic,
        }),
      ),
      (opened) => Effect.sync(opened.close),
    )
    const projector = createProjector(database.raw)
    const log = createEventReader(database)
    const { messages, message } = createMessageReader(database, log)
    const lists = createLists({ database, log, isHeldElsewhere: table.isHeldElsewhere })
    const search = createSearch(database, log)
    const remove = createRemoval({ database, log, leases: table })
    const drafts = yield* Effect.acquireRelease(
      Effect.sync(() => createDrafts({ database, projector, leases: table })),
      (opened) => Effect.ignore(database.ask(opened.close)),
    )
    const folder = yield* openOutputFolder(file)
    const { ask } = database
    const store: StoreVerbs = {
      name: file,
      identity: database.identity,
      isReachable: () => true,
      now: () => clock.currentTimeMillisUnsafe(),
      append: createAppend({ database, projector, keyOf: log.keyOf, atWork: table.atWork }),
      session: (id) => ask(() => lists.session(id)),
      remove: (id, heldAt) =>
        Effect.tap(
          ask(() => remove(id, heldAt)),
          () => database.flush(table.atWork() === 0),
        ),
      events: (range) => ask(() => log.events(range)),
      eventFrames: (range) => ask(() => log.frames(range)),
      compactions: (session) => ask(() => log.compactions(session)),
      messages: (session, stretch) => ask(() => messages(session, stretch)),
      message: (session, id) => ask(() => message(session, id)),
      inputs: (session, range) => ask(() => lists.inputs(session, range)),
      input: (id) => ask(() => lists.input(id)),
      search: (session, words) => ask(() => search(session, words)),
      sessions: (stretch) => ask(() => lists.sessions(stretch)),
      requests: (session) => ask(() => lists.requests(session)),
      request: (id) => ask(() => lists.request(id)),
      questions: (session) => ask(() => lists.questions(session)),
      approvals: (project) => ask(() => lists.approvals(project)),
      givenApprovals: ask(lists.givenApprovals),
      approvedIn: (approval) => ask(() => lists.approvedIn(approval)),
      runnable: ask(lists.runnable),
      parked: ask(lists.parked),
      draft: (creation) =>
        Effect.acquireRelease(
          ask(() => drafts.open(creation)),
          (draft) => Effect.ignore(ask(draft.discard)),
        ).pipe(
          Effect.map((draft): Draft => ({
            name: String(draft.key),
            append: (events) => ask(() => draft.append(events)),
            publish: Effect.tap(ask(draft.publish), () => database.flush(table.atWork() === 0)),
          })),
        ),
      leases: yield* openLeases({ database, table, log, drafts, leaseMs }),
      changes: foreignCommits(database),
    }
    return { store, outputs: { folder, keep: () => Effect.void, fetch: () => Effect.void } }
  })

/** A conversation continues at once or after a pause. Another process should not have to wait for the pause to end. */
const REST_MS = 50

const openLeases = (options: {
  readonly database: Database
  readonly table: LeaseTable
  readonly log: EventReader
  readonly drafts: Drafts
  readonly leaseMs: number
}): Effect.Effect<Leases, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { table, log, drafts, leaseMs } = options
    const { ask } = options.database
    const due = Latch.makeUnsafe(false)

    const giveBack = Effect.sync(table.giveBack).pipe(
      Effect.delay(REST_MS),
      Effect.repeat({ until: (done) => done }),
      Effect.andThen(due.close),
    )
    yield* due.await.pipe(Effect.andThen(giveBack), Effect.forever, inBackground, Effect.forkScoped)
    yield* Effect.sync(table.beat).pipe(
      Effect.delay(Math.max(20, Math.floor(leaseMs / 4))),
      Effect.forever,
      inBackground,
      Effect.forkScoped,
    )

    const keyOf = (session: string): number => log.keyOf(session) ?? 0
    const keyFence = ({ session, number }: Fence): KeyFence => ({ key: keyOf(session), number })
    return {
      acquire: (session) =>
        ask(() => {
          const acquired = table.acquire(keyOf(session))
          if (acquired.kind === "held") return acquired
          return { ...acquired, fence: { session, number: acquired.fence.number } }
        }),
      renew: (fence) =>
        ask(() => {
          if (table.isCurrent(keyFence(fence))) return "kept"
          sayLeaseLost(fence)
          return "lost"
        }),
      rest: (fence) =>
        Effect.sync(() => {
          table.rest(keyFence(fence))
          due.openUnsafe()
        }),
      release: (fence) =>
        Effect.sync(() => {
          if (!table.release(keyFence(fence))) due.openUnsafe()
        }),
      isHeldElsewhere: (session) => ask(() => table.isHeldElsewhere(keyOf(session))),
      abandoned: ask(() => {
        drafts.sweep()
        return table.abandoned()
      }),
      works: true,
      retire: Effect.void,
      hasRoom: () => true,
      ask: () => Effect.void,
      asked: Stream.never,
      patienceMs: 0,
      proofs: Stream.never,
      lost: Stream.fromEffectRepeat(
        // If the store cannot be read now, the next tick tries again. Nothing waits for this.
        Effect.orElseSucceed(ask(table.sweep), () => false).pipe(
          Effect.delay(Math.max(50, Math.floor(leaseMs / 4))),
          inBackground,
        ),
      ).pipe(
        Stream.filter((lost) => lost),
        Stream.map(() => undefined),
      ),
    }
  })

/** SQLite counts the commits of other connections but does not say what changed. */
const foreignCommits = ({ raw, ask }: Database): StoreVerbs["changes"] => {
  const select = raw.prepare("pragma data_version")
  const version = Effect.orElseSucceed(
    ask(() => Number(select.get()?.["data_version"])),
    () => undefined,
  )
  const later = Stream.fromEffectRepeat(version.pipe(Effect.delay(LIMITS.foreignPollMs), inBackground))
  return Stream.concat(Stream.fromEffect(version), later).pipe(
    Stream.filter((seen) => seen !== undefined),
    Stream.changes,
    Stream.drop(1),
    Stream.map(() => ({ session: undefined })),
  )
}

/** The full texts of long outputs are beside the database. With a store in memory they disappear with it. */
const openOutputFolder = (file: string): Effect.Effect<string, never, Scope.Scope> =>
  file === ":memory:"
    ? Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "meridian-output-"))),
        (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true })),
      )
    : Effect.succeed(`${file}.output`)
