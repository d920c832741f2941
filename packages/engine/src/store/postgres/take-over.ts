/** Leases as the port defines them, and work that no node does. */
import { randomInt } from "node:crypto"

import { Effect, Latch, Stream, type Scope } from "effect"

import { sayStep } from "../../port/say-aloud.ts"
import type { Acquisition, Asked, Leases } from "../../port/store.ts"
import { inBackground } from "../../port/time.ts"
import { ask, heard } from "./ask.ts"
import type { Drafts } from "./drafts.ts"
import type { LeaseBook } from "./leases.ts"
import type { Node } from "./node.ts"
import type { ServerRows } from "./rows.ts"

const REST_MS = 50
/** A node that admits an input takes it up at once. After this time it has, or it will not. */
const AFTER_HINT_MS = 30
const ASKED_MS = 10

export const openLeases = (options: {
  readonly node: Node
  readonly book: LeaseBook
  readonly rows: ServerRows
  readonly drafts: Drafts
  readonly leaseMs: number
  readonly isGone: () => boolean
}): Effect.Effect<Leases, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { node, book, rows, drafts, leaseMs, isGone } = options
    const { workers, hints, offer } = node
    const works = offer.places > 0
    yield* Effect.addFinalizer(() =>
      Effect.ignore(
        ask(async () => {
          if (isGone()) return
          await book.leave()
          await drafts.leave()
        }),
      ),
    )

    const proven = new Set<(ms: number) => void>()
    yield* node.every(Math.max(20, Math.floor(leaseMs / 6)), async () => {
      if (isGone()) return
      for (const tell of proven) tell(node.provenMs())
      await book.giveBackStray()
    })
    const restDue = Latch.makeUnsafe(false)
    yield* restDue.await.pipe(
      Effect.andThen(restDue.close),
      Effect.andThen(
        Effect.repeat(
          Effect.orElseSucceed(
            Effect.delay(
              ask(() => book.giveBackRested(REST_MS)),
              REST_MS,
            ),
            () => true,
          ),
          { until: (isDone) => isDone },
        ),
      ),
      Effect.forever,
      inBackground,
      Effect.forkScoped,
    )

    const abandoned = async (): Promise<readonly string[]> => {
      await drafts.sweep()
      await workers.sweep()
      const owners = await book.ownersElsewhere()
      const lost = await workers.lost([...new Set(owners.values())])
      return [...owners].flatMap(([session, owner]) => (lost.has(owner) ? [session] : []))
    }
    const isWorkLeft = async (): Promise<boolean> =>
      works && !workers.isRetired() && ((await book.canClaim()) || (await abandoned()).length > 0)

    const hinted = Latch.makeUnsafe(false)
    yield* Effect.acquireRelease(
      Effect.sync(() => hints.onHint(() => void hinted.openUnsafe())),
      (leave) => Effect.sync(leave),
    )
    /** After a hint, or from time to time: checks whether there is work that no node does. */
    const nextLook = Effect.suspend(() =>
      // The node that admitted it goes first. The others follow one by one, not all at once.
      Effect.andThen(hinted.await, Effect.sleep(AFTER_HINT_MS + randomInt(AFTER_HINT_MS))),
    ).pipe(
      Effect.raceFirst(Effect.sleep(Math.max(50, Math.floor(leaseMs / 4)))),
      Effect.andThen(hinted.close),
      Effect.andThen(Effect.orElseSucceed(ask(isWorkLeft), () => false)),
      inBackground,
    )

    return {
      works,
      retire: ask(workers.retire),
      hasRoom: book.hasRoom,
      patienceMs: leaseMs * 2,
      ask: (demand) => ask(() => hints.ask(demand)),
      asked: heard<Asked>(hints.onAsked).pipe(
        Stream.filterEffect((demand) =>
          // All nodes hear the request, and one of them takes it, not always the same one.
          Effect.delay(
            Effect.orElseSucceed(
              ask(() => book.takeAsked(demand)),
              () => false,
            ),
            randomInt(ASKED_MS),
          ),
        ),
      ),
      acquire: (session) =>
        ask(async () => {
          const start = node.localTime()
          const acquired = await book.acquire(session)
          if (acquired.kind === "acquired") sayClaimed(acquired, { start, end: node.localTime() })
          return acquired
        }),
      renew: (fence) =>
        ask(async () => (!node.isSilent() && (await book.isCurrent(fence)) ? "kept" : "lost")),
      rest: (fence) =>
        Effect.sync(() => {
          book.rest(fence)
          restDue.openUnsafe()
        }),
      release: (fence) =>
        Effect.ignore(
          ask(async () => {
            await book.release(fence)
            // Another process may have waited for it.
            hints.tell(fence.session)
          }),
        ),
      isHeldElsewhere: (session) =>
        ask(async () => {
          if (book.isHeld(session)) return false
          const owner = (await rows.head(session))?.owner
          return (await book.aliveElsewhere([owner])).has(owner)
        }),
      abandoned: ask(abandoned),
      proofs: heard<number>((tell) => {
        proven.add(tell)
        return () => void proven.delete(tell)
      }),
      lost: Stream.fromEffectRepeat(nextLook).pipe(
        Stream.filter((isThere) => isThere),
        Stream.map(() => undefined),
      ),
    }
  })

const sayClaimed = (
  { fence, seq, abandoned }: Extract<Acquisition, { readonly kind: "acquired" }>,
  times: { readonly start: number; readonly end: number },
): void => {
  const attributes = { "meridian.lease.number": fence.number, "meridian.lease.taken_over": abandoned }
  sayStep({ name: "lease.claim", session: fence.session, seq, ...times, attributes })
}
