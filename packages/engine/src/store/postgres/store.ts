/**
 * The store port on a server. The log, its heads and the lists across all sessions are on the server; reads of one session
 * are derived here (`mirror.ts`).
 */
import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { Failure } from "@meridian/protocol"
import { Effect, type Layer, type Scope } from "effect"

import type { Ids } from "../../port/ids.ts"
import { storeLayer, type KeptOutputs, type OpenedStore } from "../../port/kept-outputs.ts"
import { sayGroup, sayLeaseLost, sayStep } from "../../port/say-aloud.ts"
import type {
  Append,
  Appended,
  Change,
  Draft,
  HeldAt,
  Removed,
  SessionSummary,
  Store,
  StoreVerbs,
} from "../../port/store.ts"
import type { Write } from "./append-statement.ts"
import { sendInAnyCase, type Outcome } from "./append.ts"
import { ask, heard } from "./ask.ts"
import { createDrafts } from "./drafts.ts"
import { openGroupQueue } from "./group-queue.ts"
import { FRESH_MS, openLeaseBook } from "./leases.ts"
import { openMirror } from "./mirror.ts"
import { openNode, type NodeOptions } from "./node.ts"
import { createOutputs } from "./outputs.ts"
import { createSessionReader } from "./reader.ts"
import { reportStanding } from "./report-standing.ts"
import { createServerRows, type Head } from "./rows.ts"
import { openServerClock } from "./server-clock.ts"
import { shownSummary } from "./summary.ts"
import { openLeases } from "./take-over.ts"
import { createWriter } from "./writer.ts"

export const postgresStore = (options: NodeOptions): Layer.Layer<Store | KeptOutputs, Failure, Ids> =>
  storeLayer(openPostgresStore(options))

/** Larger groups leave the other lane with nothing to do. */
const MOST_AT_ONCE = 32

export const openPostgresStore = (
  options: NodeOptions,
): Effect.Effect<OpenedStore, Failure, Ids | Scope.Scope> =>
  Effect.gen(function* () {
    const { isGone = () => false } = options
    const node = yield* openNode(options)
    const { reads, workers, hints, monotonic, offer } = node
    const { schema, shown } = node.address
    const mirror = yield* Effect.acquireRelease(Effect.sync(openMirror), (opened) =>
      Effect.sync(opened.close),
    )
    const now = yield* openServerClock(node, options.leaseMs)
    const rows = createServerRows(reads, schema)
    const reader = createSessionReader({ rows, mirror, database: shown })
    const book = openLeaseBook({
      connection: reads,
      schema,
      workers,
      offer,
      wall: now,
      monotonic,
      seqOf: (session) => mirror.known(session)?.seq ?? 0,
    })
    const queue = openGroupQueue<Write, Outcome>({
      lanes: node.lanes.map((lane) => (writes) => {
        sayGroup(writes.length)
        return sendInAnyCase(lane.ask, schema, writes)
      }),
      most: MOST_AT_ONCE,
    })
    yield* reportStanding(node, options.leaseMs)
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
    const drafts = createDrafts({ connection: reads, schema, workers, newMark, remove: writer.erase })
    const folder = yield* openFolder
    const outputs = createOutputs(reads, schema, folder)

    /** In the same order. One question finds out which owners are alive. */
    const summariesOf = async (heads: readonly Head[]): Promise<readonly SessionSummary[]> => {
      const alive = await book.aliveElsewhere(heads.map(({ owner }) => owner))
      const stranded = await book.stranded(
        heads.filter(({ owner }) => owner !== workers.me && !alive.has(owner)).map(({ key }) => key),
      )
      return heads.map(({ id, key, seq, owner, host, isAsking, isQuestioning, isAnswered, summary }) => ({
        ...shownSummary(summary),
        id,
        seq,
        isAsking,
        question: summary.question ?? (isQuestioning ? "tool" : undefined),
        isAnswered,
        isHeldElsewhere: alive.has(owner),
        stranded: stranded.get(key),
        host,
      }))
    }

    const append = (given: Append): Effect.Effect<Appended, Failure> =>
      Effect.suspend(() => {
        const sentAt = monotonic()
        return Effect.map(
          ask(() => writer.append(given)),
          (answer) => {
            sayAppended(given, answer.kind, monotonic() - sentAt)
            return answer.kind === "stored" ? { kind: "committed", safe: safe(given, sentAt) } : answer
          },
        )
      })

    const sayAppended = ({ session, fence, after, events }: Append, outcome: string, ms: number): void => {
      if (outcome === "fenced" && fence !== undefined) sayLeaseLost(fence)
      const end = node.localTime()
      const attributes = { "meridian.append.outcome": outcome, "meridian.append.events": events.length }
      sayStep({ name: "store.append", session, seq: after, start: end - ms, end, attributes })
    }

    /** A commit is on the server's disk. A writer that is about to act must also still hold the session. */
    const safe = ({ durability, fence, session }: Append, sentAt: number): Effect.Effect<void, Failure> => {
      if (durability !== "act" || fence === undefined) return Effect.void
      return Effect.suspend(() =>
        monotonic() - sentAt < FRESH_MS
          ? Effect.void
          : Effect.flatMap(
              ask(() => book.isCurrent(fence)),
              (holds) => (holds ? Effect.void : Effect.fail(new Failure("FENCED", { session }))),
            ),
      )
    }

    const remove = async (id: string, heldAt?: HeldAt): Promise<Removed> => {
      const head = await rows.head(id)
      if (head === undefined) return "missing"
      if (heldAt !== undefined) return removeAt(head, heldAt)
      // Taking the session moves its number, so a process that still believes it works there cannot write.
      const acquired = await book.acquire(id)
      if (acquired.kind !== "acquired") return "held"
      const removed = await removeAt(head, acquired)
      await book.release(acquired.fence)
      return removed === "moved" ? remove(id) : removed
    }

    const removeAt = async ({ id, key }: Head, heldAt: HeldAt): Promise<Removed> => {
      const removed = await writer.remove(key, heldAt)
      if (removed !== "removed") return removed
      mirror.drop(id)
      hints.tell(id)
      return removed
    }

    const store: StoreVerbs = {
      name: shown,
      identity: node.identity,
      isReachable: () => !node.isSilent(),
      now,
      append,
      session: (id) =>
        ask(async () => {
          const head = await rows.head(id)
          return head === undefined ? undefined : (await summariesOf([head]))[0]
        }),
      remove: (id, heldAt) => ask(() => remove(id, heldAt)),
      events: (range) => ask(() => reader.read(range.session, () => mirror.events(range), [])),
      eventFrames: (range) => ask(() => reader.frames(range)),
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
          const items = await summariesOf(found.map(({ item }) => item))
          return items.map((item, index) => ({ place: found[index]?.place ?? 0, item }))
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
      questions: (session) =>
        ask(async () => {
          const asking =
            session === undefined ? [...(await rows.paused()), ...(await rows.asking())] : [session]
          const found = []
          for (const id of new Set(asking))
            found.push(...(await reader.read(id, () => mirror.questions(id), [])))
          return found
        }),
      approvals: (project) => ask(() => rows.approvals(project)),
      givenApprovals: ask(rows.givenApprovals),
      approvedIn: (approval) => ask(() => rows.approvedIn(approval)),
      runnable: ask(book.claim),
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
      leases: yield* openLeases({ node, book, rows, drafts, leaseMs: options.leaseMs, isGone }),
      changes: heard<Change>((hear) => hints.onHint((session) => hear({ session }))),
      peers: {
        token: node.token,
        stays: (session) => ask(() => rows.stays(session)),
        ownerOf: (session) =>
          ask(async () => {
            const [row] = await reads.ask(
              `select w.id, w.host, w.address from ${schema}.session s join ${schema}.worker w on w.id = s.owner
               where s.id = $1 and s.owner <> $2`,
              [session, workers.me],
            )
            if (row === undefined) return undefined
            const { id, host, address } = row
            return {
              id: String(id),
              host: String(host),
              address: typeof address === "string" ? address : undefined,
            }
          }),
      },
    }
    return {
      store,
      outputs: {
        folder,
        keep: (name) => ask(() => outputs.keep(name)),
        fetch: (name) => ask(() => outputs.fetch(name)),
      },
    }
  })

const openFolder: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "meridian-output-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true })),
)
