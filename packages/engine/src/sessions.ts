/** The verbs of sessions: admission, execution, reading. Each checks its input and calls the responsible part. */
import { Failure, sessionId, type DurableEvent, type Location, type SessionId } from "@meridian/protocol"
import { Context, Effect, Layer, Stream } from "effect"

import type { CreateInput, EventsInput, PromptInput, SessionInfo, SessionsApi } from "./api.ts"
import { openChanges } from "./change-session.ts"
import {
  findLocation,
  readCreate,
  readFork,
  readImport,
  readInputsRange,
  readMessagesPage,
  readNamed,
  readPrompt,
  readRestore,
  readSessionId,
  readSearch,
  readSessionsPage,
  readSynthetic,
  present,
  readTail,
} from "./check-input.ts"
import { forkSession, importSession } from "./copy/index.ts"
import { openExpansion, type Expansion } from "./expansion.ts"
import { effectFace, SESSION_CALLS, type EffectFace, type VerbsOf } from "./faces.ts"
import { FilePlaces } from "./port/file-trees.ts"
import { fromThrowing } from "./port/from-throwing.ts"
import { Ids } from "./port/ids.ts"
import { Store, type SessionSummary } from "./port/store.ts"
import {
  changedSessions,
  framesAfter,
  liveItems,
  openPeerLive,
  readPage,
  readReceipts,
  requestCompaction,
  restoreCheckpoint,
  tailEvents,
  tailFrames,
  untilCompacted,
} from "./reading/index.ts"
import { Scheduler, type LostProcesses } from "./schedule/index.ts"
import { openSessionInfo } from "./session-info.ts"
import {
  FoldedSessions,
  openInbox,
  requireModel,
  requirePrimaryAgent,
  Settings,
  type Locations,
  type SettingsValue,
  Signals,
} from "./session/index.ts"
import { budgetOf, openBudgets } from "./set-budget.ts"
import { openSynthetic } from "./synthetic.ts"
import { openUndoVerbs } from "./undo-verbs.ts"
import { findForkPlace, undoSession } from "./undo/index.ts"

export type SessionVerbs = VerbsOf<SessionsApi>

/** The verbs from which both faces are made. */
export class SessionsTable extends Context.Service<SessionsTable, SessionVerbs>()("meridian/SessionsTable") {
  static readonly layer: Layer.Layer<SessionsTable, never, Parts | Scheduler> = Layer.effect(
    SessionsTable,
    Effect.suspend(() => makeSessions),
  )
}

/** The sessions of one engine as an Effect service. */
export class Sessions extends Context.Service<Sessions, EffectFace<SessionsApi>>()("meridian/Sessions") {
  static readonly layer: Layer.Layer<Sessions, never, SessionsTable> = Layer.effect(
    Sessions,
    Effect.map(SessionsTable, (verbs) => effectFace<SessionsApi>(verbs, SESSION_CALLS)),
  )
}

type Parts = Store | FoldedSessions | Signals | Settings | Locations | Ids | FilePlaces | LostProcesses

const makeSessions = Effect.gen(function* () {
  const store = yield* Store
  const sessions = yield* FoldedSessions
  const scheduler = yield* Scheduler
  const signals = yield* Signals
  const settings = yield* Settings
  const ids = yield* Ids
  const inbox = yield* openInbox
  const peerLive = yield* openPeerLive(settings.followPeer)
  const setBudget = yield* openBudgets
  const expansion = yield* openExpansion
  const synthetic = yield* openSynthetic
  const info = yield* openSessionInfo
  const changes = yield* openChanges
  const undoVerbs = yield* openUndoVerbs
  const places = yield* FilePlaces
  const parts = yield* Effect.context<Parts>()

  /** Provides the engine's parts to a verb. */
  const within = <A, E>(effect: Effect.Effect<A, E, Parts>): Effect.Effect<A, E> =>
    Effect.provideContext(effect, parts)

  const get = (id: string): Effect.Effect<SessionInfo, Failure> =>
    Effect.flatMap(store.session(id), (summary) =>
      summary === undefined ? Effect.fail(notFound(id)) : Effect.succeed(info(summary)),
    )

  const requireSession = (id: unknown): Effect.Effect<string, Failure> =>
    Effect.flatMap(
      fromThrowing(() => readSessionId(id)),
      (session) => Effect.as(sessions.exists(session), session),
    )

  const create = (input: CreateInput): Effect.Effect<SessionInfo, Failure> =>
    Effect.gen(function* () {
      const request = yield* fromThrowing(() => readCreate(present(input)))
      const id = sessionId(request.id ?? ids.next("ses_"))
      if ((yield* store.session(id)) !== undefined) return yield* get(id)
      const event = yield* fromThrowing(() => creation(request, settings, id))
      yield* sessions.create({ session: id, durability: "acknowledged" }, ({ seq }) => ({
        kind: "append",
        events: seq === 0 ? [event] : [],
        answer: () => undefined,
      }))
      return yield* get(id)
    })

  const prompt = (input: PromptInput) =>
    Effect.gen(function* () {
      const request = yield* fromThrowing(() => readPrompt(present(input)))
      return yield* admit(request.expand ? yield* Effect.interruptible(expansion.of(request)) : request)
    }).pipe(Effect.uninterruptible)

  const admit = (request: Expansion) =>
    Effect.gen(function* () {
      const { sessionID, prompt: words, delivery, resume, overrides, trace, discovered = [] } = request
      const id = request.id ?? ids.next("msg_")
      const isFresh = request.id === undefined
      const asked = { id, isFresh, sessionID, prompt: words, delivery, resume, overrides }
      const admission = { ...asked, trace, discovered }
      const { answer: receipt, safe } = yield* inbox.admit(admission)
      if (resume) {
        // A retry is a demand too, for everything admitted until now.
        const through = isFresh ? receipt.admittedSeq : (yield* sessions.known(sessionID)).transcript.seq
        // The work begins while the disk is still flushing. The receipt waits.
        yield* scheduler.wake(sessionID, { through, until: safe })
      }
      // A flush in place blocks this process, so followers of the session get the event before it.
      else yield* Effect.andThen(signals.heard(sessionID), safe)
      return receipt
    })

  const children = (session: string): Effect.Effect<readonly SessionSummary[], Failure> =>
    Effect.gen(function* () {
      const { transcript } = yield* sessions.current(session)
      const found = yield* Effect.forEach(transcript.tasks, ({ sessionID }) => store.session(sessionID))
      return found.filter((summary) => summary !== undefined)
    })

  /** Deepest first. */
  const descendants = (session: string): Effect.Effect<readonly string[], Failure> =>
    Effect.flatMap(children(session), (found) =>
      Effect.map(
        Effect.forEach(found, ({ id }) => Effect.map(descendants(id), (below) => [...below, id])),
        (families) => families.flat(),
      ),
    )

  const tailRequest = (input: EventsInput) =>
    Effect.gen(function* () {
      const { sessionID, after = 0, follow = false } = yield* fromThrowing(() => readTail(present(input)))
      return { session: yield* requireSession(sessionID), after, follow }
    })

  /** Trees kept for the session may now be cleaned up. A place that is gone keeps nothing. */
  const dropTrees = (session: string, location: Location | undefined): Effect.Effect<void> =>
    places.keeps
      ? Effect.ignore(
          Effect.tryPromise(async () =>
            (await places.at(settings.places.directoryOf(location))).drop(session),
          ),
        )
      : Effect.void

  const compact = (sessionID: string) =>
    Effect.gen(function* () {
      const session = yield* requireSession(sessionID)
      const after = yield* requestCompaction(session)
      yield* scheduler.wake(session)
      yield* Effect.raceFirst(untilCompacted(session), scheduler.settled(session))
      const last = (yield* readReceipts(session)).at(-1)
      return last !== undefined && last.seq > after && last.status === "ended" ? last : undefined
    })

  return SessionsTable.of({
    create,
    fork: (input) =>
      Effect.gen(function* () {
        const request = yield* fromThrowing(() => readFork(present(input)))
        const { sessionID, at, overwrite = false } = request
        const id = sessionId(request.id ?? ids.next("ses_"))
        const { message, next } = yield* within(findForkPlace(yield* requireSession(sessionID), at))
        const isNew = (yield* store.session(id)) === undefined
        if (request.files === true && next !== undefined && isNew)
          yield* within(
            undoSession({ sessionID, conversation: false, files: true, overwrite, last: { from: next } }),
          ).pipe(
            Effect.catchIf(
              ({ code }) => code === "NOTHING_TO_UNDO",
              () => Effect.void,
            ),
          )
        yield* within(forkSession({ sessionID, id, at: message }))
        return yield* get(id)
      }),
    ...undoVerbs,
    import: (input) =>
      Effect.gen(function* () {
        const request = yield* fromThrowing(() => readImport(present(input), settings.places))
        const { id, created, counts } = yield* within(importSession(request))
        return { session: yield* get(id), created, counts }
      }),
    get: (id) =>
      Effect.flatMap(
        fromThrowing(() => readSessionId(id)),
        get,
      ),
    list: (input = {}) =>
      Effect.gen(function* () {
        const request = yield* fromThrowing(() => readSessionsPage(present(input)))
        const page = yield* readPage("sessions", request, store.sessions)
        return { ...page, items: page.items.map(info) }
      }),
    prompt,
    search: (input) =>
      Effect.gen(function* () {
        const { sessionID, words } = yield* fromThrowing(() => readSearch(present(input)))
        return yield* store.search(yield* requireSession(sessionID), words)
      }),
    children: (id) => Effect.map(Effect.flatMap(requireSession(id), children), (found) => found.map(info)),
    synthetic: (input) =>
      Effect.flatMap(
        fromThrowing(() => readSynthetic(present(input))),
        synthetic,
      ),
    commands: (id) => Effect.flatMap(requireSession(id), expansion.commands),
    run: (id) =>
      Effect.flatMap(
        fromThrowing(() => readSessionId(id)),
        scheduler.run,
      ),
    wake: (id) =>
      Effect.gen(function* () {
        const session = yield* fromThrowing(() => readSessionId(id))
        const { transcript } = yield* sessions.current(session)
        yield* scheduler.wake(session, { through: transcript.seq, early: true })
      }),
    interrupt: (id) =>
      Effect.flatMap(
        fromThrowing(() => readSessionId(id)),
        scheduler.interrupt,
      ),
    wait: (id) => Effect.flatMap(requireSession(id), scheduler.wait),
    active: () => scheduler.active,
    events: (input) =>
      Effect.map(tailRequest(input), (request) => Stream.provideContext(tailEvents(request), parts)),
    eventPage: (input) =>
      Effect.flatMap(tailRequest(input), ({ session, after }) => within(framesAfter(session, after))),
    eventFrames: (input) =>
      Effect.map(tailRequest(input), (request) => Stream.provideContext(tailFrames(request), parts)),
    changes: () => Effect.succeed(Stream.provideContext(changedSessions, parts)),
    live: (id) =>
      Effect.map(requireSession(id), (session) =>
        peerLive.beside(session, Stream.provideContext(liveItems(session), parts)),
      ),
    ownLive: (id) =>
      Effect.map(requireSession(id), (session) => Stream.provideContext(liveItems(session, true), parts)),
    messages: (input) =>
      Effect.gen(function* () {
        const request = yield* fromThrowing(() => readMessagesPage(present(input)))
        const session = yield* requireSession(request.sessionID)
        const page = yield* readPage(`messages:${session}`, request.page, (stretch) =>
          store.messages(session, stretch),
        )
        return { ...page, items: page.items.filter((message) => message !== undefined) }
      }),
    message: (input) =>
      Effect.gen(function* () {
        const { sessionID, id } = yield* fromThrowing(() => readNamed(present(input)))
        return yield* store.message(yield* requireSession(sessionID), id)
      }),
    inputs: (id, range) =>
      Effect.gen(function* () {
        const session = yield* requireSession(id)
        return yield* store.inputs(session, yield* fromThrowing(() => readInputsRange(range)))
      }),
    cancel: (input) =>
      Effect.flatMap(
        fromThrowing(() => readNamed(present(input))),
        ({ sessionID, id }) => inbox.cancel(sessionID, id),
      ),
    ...changes,
    delete: (id) =>
      Effect.gen(function* () {
        const session = yield* requireSession(id)
        const family = [...(yield* descendants(session)), session]
        const busy = family.find(scheduler.isActive)
        if (busy !== undefined) return yield* Effect.fail(inUse(busy))
        // Deepest first: a crash leaves a family that lacks only its youngest members.
        for (const member of family) {
          const { location } = (yield* sessions.current(member)).transcript.undoing
          const removed = yield* store.remove(member)
          if (removed === "held") return yield* Effect.fail(inUse(member))
          yield* sessions.forget(member)
          yield* dropTrees(member, location)
        }
      }),
    compact: (id) => within(compact(id)),
    receipts: (id) => Effect.flatMap(requireSession(id), (session) => within(readReceipts(session))),
    stays: (id) =>
      Effect.flatMap(requireSession(id), (session) =>
        Effect.map(store.peers?.stays(session) ?? Effect.succeed([]), (stays) =>
          stays.map(({ host, seq, time }) => ({ node: host, seq, time })),
        ),
      ),
    restore: (input) =>
      Effect.gen(function* () {
        const { sessionID, compactionID } = yield* fromThrowing(() => readRestore(present(input)))
        yield* within(restoreCheckpoint(yield* requireSession(sessionID), compactionID))
      }),
    budget: (id) =>
      Effect.flatMap(
        fromThrowing(() => readSessionId(id)),
        (session) =>
          Effect.map(sessions.current(session), ({ transcript }) => budgetOf(transcript, settings)),
      ),
    setBudget,
  })
})

const inUse = (session: string): Failure => new Failure("SESSION_IN_USE", { session })

const notFound = (session: string): Failure => new Failure("SESSION_NOT_FOUND", { session })

const creation = (
  { location, agent, model, title, recovery, budget }: CreateInput,
  settings: SettingsValue,
  id: SessionId,
): DurableEvent => {
  const place = findLocation(location, settings.places)
  if (agent !== undefined) requirePrimaryAgent(settings, agent)
  if (model !== undefined) requireModel(settings, model)
  return {
    type: "session.next.created.1",
    data: {
      sessionID: id,
      location: place,
      ...(agent === undefined ? {} : { agent }),
      ...(model === undefined ? {} : { model }),
      ...(title === undefined ? {} : { title }),
      ...(recovery === undefined ? {} : { recovery }),
      ...(budget === undefined ? {} : { caps: budget }),
    },
  }
}
