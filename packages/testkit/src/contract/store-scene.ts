/** What the parts of the store's contract share: opening clients, letting time pass, and some events. */
import type {
  Append,
  Appended,
  Fence,
  Ids,
  OpenedStore,
  OutputVerbs,
  StoreVerbs,
} from "@meridian/engine/store-port"
import {
  messageId,
  permissionRequestId,
  sessionId,
  type DurableEvent,
  type Failure,
} from "@meridian/protocol"
import { Effect, Fiber, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { test } from "vitest"

export interface TestedStore extends OpenedStore {
  /** Ends its process. Completes when other clients can know it. */
  readonly die: Effect.Effect<void>
}

/** What a store under test supplies: how its process ends. When others notice is not part of it. */
export interface OpenedClient extends OpenedStore {
  readonly die: () => void
}

export interface StoreUnderTest {
  readonly name: string
  /** A new, empty store. Each `open` gives one more client of the same store. */
  readonly create: () => {
    readonly open: Effect.Effect<OpenedClient, Failure, Ids | Scope.Scope>
    readonly leaseMs: number
    /** How long other clients need to be sure that a client is gone. */
    readonly noticeMs?: number
  }
  /** The store lives inside one process, so there is never a second client. */
  readonly isPrivate?: boolean
  /** Runs the effect with ids and with a clock that the suite moves. */
  readonly run: <A>(effect: Effect.Effect<A, Failure, Ids | Scope.Scope>) => Promise<A>
}

/** Lets time pass until the effect is done. */
export const throughTime = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect, { startImmediately: true })
    while (fiber.pollUnsafe() === undefined) {
      yield* TestClock.adjust(1)
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    }
    return yield* Fiber.join(fiber)
  })

/** Runs a test with one client. */
export const withStore = <A>(
  { create, run }: StoreUnderTest,
  use: (store: StoreVerbs, outputs: OutputVerbs) => Effect.Effect<A, Failure, Ids | Scope.Scope>,
): Promise<A> => run(throughTime(Effect.flatMap(create().open, ({ store, outputs }) => use(store, outputs))))

/** Runs a test with two clients of one store. */
export const withTwo = <A>(
  { create, run }: StoreUnderTest,
  use: (
    one: TestedStore,
    other: TestedStore,
    leaseMs: number,
  ) => Effect.Effect<A, Failure, Ids | Scope.Scope>,
): Promise<A> => {
  const { open, leaseMs, noticeMs = 0 } = create()
  const client = Effect.map(open, ({ store, outputs, die }): TestedStore => ({
    store,
    outputs,
    die: Effect.andThen(Effect.sync(die), noticeMs === 0 ? Effect.void : Effect.sleep(noticeMs)),
  }))
  return run(
    throughTime(
      Effect.gen(function* () {
        return yield* use(yield* client, yield* client, leaseMs)
      }),
    ),
  )
}

/** A test for stores that several processes can open. For other stores it does not exist. */
export const testWithTwo = ({ isPrivate = false }: StoreUnderTest): typeof test | (() => void) =>
  isPrivate ? () => undefined : test

/** Appends, waits until it is safe, and returns the kind of answer. */
export const append = (
  store: StoreVerbs,
  given: Partial<Append> & Pick<Append, "session" | "after">,
): Effect.Effect<Appended["kind"], Failure> =>
  Effect.gen(function* () {
    const appended = yield* store.append({ time: 7, events: [], durability: "progress", ...given })
    if (appended.kind === "committed") yield* appended.safe
    return appended.kind
  })

export const createSession = (store: StoreVerbs, session: string): Effect.Effect<Appended["kind"], Failure> =>
  append(store, { session, after: 0, events: [created(session)] })

export const acquired = (store: StoreVerbs, session: string): Effect.Effect<Fence, Failure> =>
  Effect.flatMap(store.leases.acquire(session), (lease) =>
    lease.kind === "acquired" ? Effect.succeed(lease.fence) : Effect.die(new Error("it is held")),
  )

export const seqs = (store: StoreVerbs, session: string): Effect.Effect<readonly number[], Failure> =>
  Effect.map(store.events({ session, after: 0, limit: 500 }), (events) => events.map(({ seq }) => seq))

export const created = (session: string, directory = "/project"): DurableEvent => ({
  type: "session.next.created.1",
  data: { sessionID: sessionId(session), location: { directory } },
})

export const admitted = (id: string, resume = true): DurableEvent => ({
  type: "session.next.prompt.admitted.1",
  data: { messageID: messageId(id), prompt: { text: `say ${id}` }, delivery: "steer", resume },
})

export const promoted = (id: string, admittedSeq: number): DurableEvent => ({
  type: "session.next.prompt.promoted.1",
  data: { messageID: messageId(id), admittedSeq },
})

export const started = (step: string): DurableEvent => ({
  type: "session.next.step.started.1",
  data: { assistantMessageID: messageId(step), agent: "build", model: "m" },
})

export const said = (step: string, text: string): DurableEvent => ({
  type: "session.next.text.ended.1",
  data: { assistantMessageID: messageId(step), text },
})

export const called = (step: string, callID: string): DurableEvent => ({
  type: "session.next.tool.called.1",
  data: { assistantMessageID: messageId(step), callID, tool: "act", input: { n: 1 } },
})

export const succeeded = (step: string, callID: string): DurableEvent => ({
  type: "session.next.tool.success.1",
  data: { assistantMessageID: messageId(step), callID, content: [{ type: "text", text: "acted" }] },
})

export const asked = (step: string, callID: string, requestID: string): DurableEvent => ({
  type: "session.next.permission.asked.1",
  data: {
    requestID: permissionRequestId(requestID),
    assistantMessageID: messageId(step),
    callID,
    action: "act",
    resources: ["*"],
    title: "Act",
    project: "/project",
    always: ["*"],
  },
})

export const replied = (requestID: string, always: readonly string[] = []): DurableEvent => ({
  type: "session.next.permission.replied.1",
  data: {
    requestID: permissionRequestId(requestID),
    reply: always.length > 0 ? "always" : "once",
    parked: false,
    ...(always.length > 0 ? { saved: { project: "/project", action: "act", resources: always } } : {}),
  },
})

export const ended = (step: string): DurableEvent => ({
  type: "session.next.step.ended.2",
  data: {
    assistantMessageID: messageId(step),
    finish: "stop",
    usage: { input: 10, output: 5, reasoning: 1, cacheRead: 2, cacheWrite: 3 },
    cost: 0.5,
  },
})

export const interrupt: DurableEvent = { type: "session.next.interrupt.requested.1", data: {} }
