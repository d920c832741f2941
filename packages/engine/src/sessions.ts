/** The verbs of sessions: admission, execution, reading. Each checks what it was given and asks the part that knows. */
import { Failure, sessionId, type DurableEvent, type Location, type SessionId } from "@meridian/protocol"
import { Context, Effect, Layer, Stream } from "effect"

import type { CreateInput, EventsInput, PromptInput, SessionInfo, SessionsApi, SessionStatus } from "./api.ts"
import {
  findLocation,
  readAgentSwitch,
  readArchive,
  readCreate,
  readFork,
  readImport,
  readInputsRange,
  readMessagesPage,
  readModelSwitch,
  readMove,
  readNamed,
  readPrompt,
  readRename,
  readRestore,
  readSessionId,
  readSearch,
  readSessionsPage,
  readSynthetic,
  present,
  readTail,
  readUndo,
  readRedo,
  readFiles,
} from "./check-input.ts"
import { forkSession, importSession } from "./copy/index.ts"
import { LIMITS } from "./domain/limits.ts"
import { describeStranded } from "./domain/stranded.ts"
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
import {
  DEFAULT_AGENT,
  FoldedSessions,
  isForPeople,
  openInbox,
  requireModel,
  Settings,
  type Locations,
  type SettingsValue,
  Signals,
} from "./session/index.ts"
import { budgetOf, openBudgets } from "./set-budget.ts"
import { openSynthetic } from "./synthetic.ts"
import { changedFiles, findForkPlace, redoSession, undoSession, type Undone } from "./undo/index.ts"

export type SessionVerbs = VerbsOf<SessionsApi>

/** The verbs as both faces are made from them. */
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
  const places = yield* FilePlaces
  const parts = yield* Effect.context<Parts>()

  /** Verbs of the parts need what this engine is made of. */
  const within = <A, E>(effect: Effect.Effect<A, E, Parts>): Effect.Effect<A, E> =>
    Effect.provideContext(effect, parts)

  const info = (summary: SessionSummary): SessionInfo => ({
    id: summary.id,
    location: shownLocation(summary.location),
    agent: summary.agent ?? DEFAULT_AGENT,
    ...(summary.model === undefined ? {} : { model: summary.model }),
    ...(summary.title === undefined ? {} : { title: summary.title }),
    ...(summary.task === undefined ? {} : { parent: summary.task }),
    ...(summary.isArchived ? { archived: true } : {}),
    seq: summary.seq,
    ...standingOf(summary),
    usage: summary.usage,
    cost: summary.cost,
    time: { created: summary.created, updated: summary.updated },
  })

  /** As it lies here, where it does. */
  const shownLocation = (location: Location): SessionInfo["location"] => ({
    directory: settings.places.lookUp(location),
    ...(location.workspaceID === undefined ? {} : { workspace: location.workspaceID }),
  })

  const standingOf = (
    summary: SessionSummary,
  ): Pick<SessionInfo, "status" | "waitingFor" | "until" | "reason"> => {
    const { parkedUntil, question } = summary
    if (summary.isAsking) return { status: "waiting", waitingFor: "permission" }
    if (question === "tool") return { status: "waiting", waitingFor: "question" }
    const status = statusOf(summary)
    if (summary.stranded !== undefined && status !== "running")
      return { status: "waiting", waitingFor: "worker", reason: describeStranded(summary.stranded) }
    // One whose time has come is only waiting for somebody to look.
    if (parkedUntil === undefined || parkedUntil <= summary.updated || status === "running") return { status }
    if (question === undefined) return { status: "waiting", waitingFor: "limit", until: parkedUntil }
    return { status: "waiting", waitingFor: question === "budget" ? "budget" : "question" }
  }

  const statusOf = (summary: SessionSummary): SessionStatus => {
    if (scheduler.isActive(summary.id) || summary.isHeldElsewhere) return "running"
    // A call that was allowed and that nobody runs, where recovery is off: it is not done.
    return summary.trouble ?? (summary.isAnswered ? "interrupted" : "idle")
  }

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
        // A retry is a demand too, for everything that was admitted by now.
        const through = isFresh ? receipt.admittedSeq : (yield* sessions.known(sessionID)).transcript.seq
        // The work begins while the disk is still at it; the receipt waits.
        yield* scheduler.wake(sessionID, { through, until: safe })
      }
      // A flush in place stops this process: whoever follows the session has the event before it, not after it.
      else yield* Effect.andThen(signals.heard(sessionID), safe)
      return receipt
    })

  const children = (session: string): Effect.Effect<readonly SessionSummary[], Failure> =>
    Effect.gen(function* () {
      const { transcript } = yield* sessions.current(session)
      const found = yield* Effect.forEach(transcript.tasks, ({ sessionID }) => store.session(sessionID))
      return found.filter((summary) => summary !== undefined)
    })

  /** The deepest first. */
  const descendants = (session: string): Effect.Effect<readonly string[], Failure> =>
    Effect.flatMap(children(session), (found) =>
      Effect.map(
        Effect.forEach(found, ({ id }) => Effect.map(descendants(id), (below) => [...below, id])),
        (families) => families.flat(),
      ),
    )

  /** What people ask for, from any process: one event, whatever the session does meanwhile. */
  const record = (session: string, event: DurableEvent): Effect.Effect<void, Failure> =>
    sessions.write({ session, durability: "acknowledged" }, () => ({
      kind: "append",
      events: [event],
      answer: () => undefined,
    }))

  const tailRequest = (input: EventsInput) =>
    Effect.gen(function* () {
      const { sessionID, after = 0, follow = false } = yield* fromThrowing(() => readTail(present(input)))
      return { session: yield* requireSession(sessionID), after, follow }
    })

  /** A prompt as people know it: by its words. */
  const textOf = (session: string, { id }: { readonly id: string }) =>
    Effect.map(store.message(session, id), (message) => ({
      id,
      text: message?.type === "user" ? message.text : "",
    }))

  const withTexts = (session: string, undone: Undone) =>
    Effect.map(
      Effect.forEach(undone.prompts.slice(-LIMITS.namedFiles), (mark) => textOf(session, mark)),
      (prompts) => ({ ...undone, prompts }),
    )

  /** What was kept for the session may be cleaned up. A place that is gone keeps nothing. */
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
    undo: (input) =>
      Effect.gen(function* () {
        const request = yield* fromThrowing(() => readUndo(present(input)))
        const { sessionID, count = 1, overwrite = false } = request
        const { conversation = true, files = true } = request
        if (!conversation && !files)
          return yield* Effect.fail(
            new Failure("INVALID_INPUT", { what: "Either the conversation or files are taken back" }),
          )
        const session = yield* requireSession(sessionID)
        const wish = { sessionID: session, conversation, files, overwrite, last: { count } }
        return yield* withTexts(session, yield* within(undoSession(wish)))
      }),
    redo: (input) =>
      Effect.gen(function* () {
        const { sessionID, overwrite = false } = yield* fromThrowing(() => readRedo(present(input)))
        const session = yield* requireSession(sessionID)
        return yield* withTexts(session, yield* within(redoSession({ sessionID: session, overwrite })))
      }),
    files: (input) =>
      Effect.gen(function* () {
        const { sessionID, at, diff } = yield* fromThrowing(() => readFiles(present(input)))
        const session = yield* requireSession(sessionID)
        const changed = yield* within(changedFiles({ sessionID: session, at, diff }))
        const { number, ...mark } = changed.prompt
        return { ...changed, prompt: { ...(yield* textOf(session, mark)), number } }
      }),
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
    switchModel: (input) =>
      Effect.gen(function* () {
        const { sessionID, model } = yield* fromThrowing(() => readModelSwitch(present(input)))
        yield* fromThrowing(() => requireModel(settings, model))
        yield* record(sessionID, { type: "session.next.model.switched.1", data: { model } })
      }),
    switchAgent: (input) =>
      Effect.gen(function* () {
        const { sessionID, agent } = yield* fromThrowing(() => readAgentSwitch(present(input)))
        yield* fromThrowing(() => checkAgent(settings, agent))
        yield* record(sessionID, { type: "session.next.agent.switched.1", data: { agent } })
      }),
    rename: (input) =>
      Effect.gen(function* () {
        const { sessionID, title } = yield* fromThrowing(() => readRename(present(input)))
        yield* record(sessionID, { type: "session.next.renamed.1", data: { title } })
      }),
    archive: (input) =>
      Effect.gen(function* () {
        const { sessionID, archived } = yield* fromThrowing(() => readArchive(present(input)))
        yield* record(sessionID, { type: "session.next.archived.1", data: { archived } })
      }),
    delete: (id) =>
      Effect.gen(function* () {
        const session = yield* requireSession(id)
        const family = [...(yield* descendants(session)), session]
        const busy = family.find(scheduler.isActive)
        if (busy !== undefined) return yield* Effect.fail(inUse(busy))
        // The deepest first: what is left after a crash is a family without its youngest.
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
    move: (input) =>
      Effect.gen(function* () {
        const request = yield* fromThrowing(() => readMove(present(input)))
        const location = yield* fromThrowing(() => findLocation(request.location, settings.places))
        yield* record(request.sessionID, { type: "session.next.moved.1", data: { location } })
      }),
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
  if (agent !== undefined) checkAgent(settings, agent)
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

/** People choose among the agents that work for people. */
const checkAgent = (settings: SettingsValue, name: string): void => {
  const agent = settings.agents.get(name)
  const known = [...settings.agents.values()]
    .filter(isForPeople)
    .map((one) => one.name)
    .join(", ")
  if (agent === undefined) throw new Failure("AGENT_NOT_FOUND", { agent: name, known })
  if (agent.mode === "sub") throw new Failure("AGENT_NOT_PRIMARY", { agent: name, known })
}
