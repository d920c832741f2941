/** The sessions of one engine as an Effect service: admission, execution, reading. Every verb, nothing else. */
import { statSync } from "node:fs"
import { isAbsolute, resolve } from "node:path"

import {
  Failure,
  sessionId,
  type CompactionReceipt,
  type DurableEvent,
  type Location,
  type Prompt,
  type Receipt,
  type SessionMessage,
} from "@meridian/protocol"
import { Context, Effect, Stream } from "effect"

import type {
  CreateInput,
  EventsInput,
  EventText,
  ForkInput,
  ImportInput,
  ImportResult,
  LiveItem,
  Page,
  PageInput,
  PromptInput,
  SessionChanges,
  SessionEvent,
  SessionInfo,
  SessionStatus,
} from "./api.ts"
import { cutText, LATEST_TIME } from "./domain/import-values.ts"
import { LIMITS } from "./domain/limits.ts"
import { attempt, attemptNow, attemptSoon } from "./runner/attempt.ts"
import { changedSessions } from "./runner/changes.ts"
import type { Runtime } from "./runner/drain.ts"
import type { Drains } from "./runner/drains.ts"
import { forkSession } from "./runner/fork.ts"
import { importSession, type ImportRequest } from "./runner/import.ts"
import { liveItems } from "./runner/live.ts"
import { checkCheckpoint, receiptsOf, requestCompaction } from "./runner/receipts.ts"
import { DEFAULT_AGENT } from "./runner/settings.ts"
import { tailEvents, tailTexts } from "./runner/tail.ts"
import type { SessionRow } from "./store/log.ts"

export class Sessions extends Context.Service<
  Sessions,
  {
    readonly create: (input: CreateInput) => Effect.Effect<SessionInfo, Failure>
    readonly fork: (input: ForkInput) => Effect.Effect<SessionInfo, Failure>
    readonly import: (input: ImportInput) => Effect.Effect<ImportResult, Failure>
    readonly get: (sessionID: string) => Effect.Effect<SessionInfo, Failure>
    readonly list: (input?: PageInput) => Effect.Effect<Page<SessionInfo>, Failure>
    readonly prompt: (input: PromptInput) => Effect.Effect<Receipt, Failure>
    readonly run: (sessionID: string) => Effect.Effect<void, Failure>
    readonly wake: (sessionID: string) => Effect.Effect<void, Failure>
    readonly interrupt: (sessionID: string) => Effect.Effect<void, Failure>
    readonly wait: (sessionID: string) => Effect.Effect<void, Failure>
    readonly active: Effect.Effect<readonly string[]>
    readonly events: (input: EventsInput) => Stream.Stream<SessionEvent, Failure>
    readonly live: (sessionID: string) => Stream.Stream<LiveItem, Failure>
    readonly messages: (
      input: PageInput & { readonly sessionID: string },
    ) => Effect.Effect<Page<SessionMessage>, Failure>
    readonly message: (input: {
      readonly sessionID: string
      readonly id: string
    }) => Effect.Effect<SessionMessage | undefined, Failure>
    readonly inputs: (sessionID: string) => Effect.Effect<readonly Receipt[], Failure>
    readonly cancel: (input: {
      readonly sessionID: string
      readonly id: string
    }) => Effect.Effect<Receipt, Failure>
    readonly switchModel: (input: {
      readonly sessionID: string
      readonly model: string
    }) => Effect.Effect<void, Failure>
    readonly switchAgent: (input: {
      readonly sessionID: string
      readonly agent: string
    }) => Effect.Effect<void, Failure>
    readonly compact: (sessionID: string) => Effect.Effect<CompactionReceipt | undefined, Failure>
    readonly receipts: (sessionID: string) => Effect.Effect<readonly CompactionReceipt[], Failure>
    readonly restore: (input: {
      readonly sessionID: string
      readonly compactionID?: string
    }) => Effect.Effect<void, Failure>
    readonly move: (input: {
      readonly sessionID: string
      readonly location: Location
    }) => Effect.Effect<void, Failure>
  }
>()("meridian/Sessions") {}

export const makeSessions = (runtime: Runtime, drains: Drains): Sessions["Service"] => {
  const { store, settings, world } = runtime

  const info = (row: SessionRow): SessionInfo => ({
    id: row.id,
    location: { directory: row.directory },
    agent: row.agent ?? DEFAULT_AGENT,
    ...(row.model === undefined ? {} : { model: row.model }),
    ...(row.title === undefined ? {} : { title: row.title }),
    seq: row.seq,
    status: statusOf(row),
    usage: row.usage,
    cost: row.cost,
    time: { created: row.created, updated: row.updated },
  })

  const statusOf = (row: SessionRow): SessionStatus => {
    if (store.reader.openRequests(row.key).length > 0) return "waiting"
    if (drains.isActive(row.id) || store.leases.isHeldElsewhere(row.key)) return "running"
    if (row.failedSeq === undefined) return "idle"
    const [failed] = store.reader.events(row.key, row.failedSeq - 1, 1)
    const wasInterrupted =
      ((failed?.type === "session.next.step.failed.2" ||
        failed?.type === "session.next.execution.failed.1") &&
        failed.data.error.code === "INTERRUPTED") ||
      (failed?.type === "session.next.tool.failed.1" && failed.data.error.code === "interrupted")
    return wasInterrupted ? "interrupted" : "failed"
  }

  const create = (input: CreateInput) =>
    attempt(() => {
      const id = sessionId(checkId(input.id) ?? world.id("ses_"))
      const existing = store.log.find(id)
      if (existing !== undefined) return info(existing)
      const location = checkLocation(input.location)
      if (input.agent !== undefined) checkAgent(input.agent)
      if (input.model !== undefined) checkModel(input.model)
      const { agent, model, title } = input
      const { row } = store.log.create(id, {
        type: "session.next.created.1",
        data: {
          sessionID: id,
          location,
          ...(agent === undefined ? {} : { agent }),
          ...(model === undefined ? {} : { model }),
          ...(title === undefined ? {} : { title }),
        },
      })
      return info(row)
    })

  const fork = (input: ForkInput) =>
    attempt(() => sessionId(checkId(input.id) ?? world.id("ses_"))).pipe(
      Effect.flatMap((id) => forkSession(runtime, { sessionID: input.sessionID, id })),
      Effect.map(info),
    )

  const admit = (input: PromptInput): Receipt => {
    const { sessionID, prompt: text, delivery = "steer", resume = true } = input
    checkPrompt(text)
    if (delivery !== "steer" && delivery !== "queue")
      throw invalid(`Delivery is "steer" or "queue", not ${JSON.stringify(delivery)}`)
    const given = checkId(input.id)
    return store.inbox.admit({
      id: given ?? world.id("msg_"),
      isFresh: given === undefined,
      sessionID,
      prompt: text,
      delivery,
      resume,
      limit: settings.limits.pendingInputs,
      // Where no work begins there is nothing to do beside the disk's.
      durability: resume ? "NORMAL" : "FULL",
    })
  }

  /** The work begins while the disk is still at it; what is acknowledged is on the disk. */
  const prompt = (input: PromptInput) =>
    Effect.uninterruptible(
      Effect.gen(function* () {
        const receipt = yield* attemptNow(() => admit(input))
        const synced = store.database.synced()
        if (input.resume !== false) {
          release(
            input.sessionID,
            input.id === undefined ? receipt.admittedSeq : store.log.head(input.sessionID).seq,
          )
          drains.wake(input.sessionID, synced)
        }
        if (synced !== undefined) yield* attemptSoon(() => synced)
        return receipt
      }),
    )

  /** Inputs that were admitted only now have the demand they waited for. */
  const release = (sessionID: string, seq: number): void => {
    runtime.releases.set(sessionID, Math.max(seq, runtime.releases.get(sessionID) ?? 0))
  }

  const interrupt = (sessionID: string) =>
    Effect.gen(function* () {
      const boundary = attempt(() => {
        store.log.write({ sessionID, durability: "FULL" }, ({ append }) =>
          append([{ type: "session.next.interrupt.requested.1", data: {} }]),
        )
      })
      if (drains.isActive(sessionID)) return yield* drains.interrupt(sessionID, boundary)
      const row = store.log.find(sessionID)
      if (row === undefined || !store.leases.isHeldElsewhere(row.key)) return
      yield* boundary
      yield* untilFree(row.key)
    })

  /** Another process is at work here: it sees our commits, we see its lease go. */
  const untilFree = (key: number): Effect.Effect<void, Failure> =>
    Effect.gen(function* () {
      while (yield* attemptNow(() => store.leases.isHeldElsewhere(key)))
        yield* Effect.sleep(LIMITS.foreignPollMs)
    })

  const wait = (sessionID: string) =>
    Effect.gen(function* () {
      const { key } = yield* attemptNow(() => store.log.head(sessionID))
      if (drains.isActive(sessionID)) yield* drains.awaitIdle(sessionID)
      yield* untilFree(key)
    })

  const append = (sessionID: string, event: DurableEvent) =>
    attempt(() => {
      store.log.write({ sessionID, durability: "FULL" }, (writing) => writing.append([event]))
    })

  const checkAgent = (agent: string): void => {
    if (!settings.agents.has(agent))
      throw new Failure("AGENT_NOT_FOUND", { agent, known: [...settings.agents.keys()].join(", ") })
  }
  const checkModel = (model: string): void => {
    if (!settings.models.has(model))
      throw new Failure("MODEL_NOT_FOUND", { model, known: [...settings.models.keys()].join(", ") })
  }

  return {
    create,
    fork,
    import: (input) =>
      attempt(() => checkImport(input)).pipe(
        Effect.flatMap((request) => importSession(runtime, request)),
        Effect.map(({ row, created, counts }) => ({ session: info(row), created, counts })),
      ),
    get: (sessionID) => attempt(() => info(store.log.get(sessionID))),
    list: (input = {}) =>
      attempt(() => {
        const page = store.reader.sessions(checkPage(input, LIMITS.sessionsPerPage))
        return { ...page, items: page.items.map(info) }
      }),
    prompt,
    run: (sessionID) =>
      attempt(() => release(sessionID, store.log.head(sessionID).seq)).pipe(
        Effect.andThen(drains.run(sessionID)),
      ),
    wake: (sessionID) =>
      attempt(() => {
        release(sessionID, store.log.head(sessionID).seq)
        drains.wake(sessionID)
      }),
    interrupt,
    wait,
    active: Effect.sync(drains.active),
    events: (input) => streamOf((signal) => readEvents(runtime, input, signal)),
    live: (sessionID) => streamOf((signal) => readLive(runtime, sessionID, signal)),
    messages: (input) =>
      attempt(() =>
        store.reader.messages(store.log.get(input.sessionID), checkPage(input, LIMITS.messagesPerPage)),
      ),
    message: ({ sessionID, id }) => attempt(() => store.reader.message(store.log.head(sessionID).key, id)),
    inputs: (sessionID) => attempt(() => store.inbox.receipts(store.log.head(sessionID).key)),
    cancel: ({ sessionID, id }) => attempt(() => store.inbox.cancel(sessionID, id)),
    switchModel: ({ sessionID, model }) =>
      attempt(() => checkModel(model)).pipe(
        Effect.andThen(append(sessionID, { type: "session.next.model.switched.1", data: { model } })),
      ),
    switchAgent: ({ sessionID, agent }) =>
      attempt(() => checkAgent(agent)).pipe(
        Effect.andThen(append(sessionID, { type: "session.next.agent.switched.1", data: { agent } })),
      ),
    compact: (sessionID) => requestCompaction(runtime, drains, sessionID),
    receipts: (sessionID) =>
      attempt(() => {
        const session = store.log.get(sessionID)
        return receiptsOf(store.reader.compactions(session.key))
      }),
    restore: ({ sessionID, compactionID }) =>
      attempt(() => {
        store.log.write({ sessionID, durability: "FULL" }, ({ session, append: write }) => {
          checkCheckpoint(receiptsOf(store.reader.compactions(session.key)), compactionID)
          write([
            {
              type: "session.next.compaction.restored.1",
              data: compactionID === undefined ? {} : { compactionID },
            },
          ])
        })
      }),
    move: ({ sessionID, location }) =>
      attempt(() => checkLocation(location)).pipe(
        Effect.flatMap((to) => append(sessionID, { type: "session.next.moved.1", data: { location: to } })),
      ),
  }
}

/** Checks before the first event is asked for, so that a bad request fails at once. */
export const readEvents = (
  runtime: Pick<Runtime, "store" | "signals" | "world">,
  input: EventsInput,
  signal: AbortSignal,
): AsyncIterable<SessionEvent> => tailEvents({ ...runtime, ...placeOf(runtime, input), signal })

export const readEventTexts = (
  runtime: Pick<Runtime, "store" | "signals">,
  input: EventsInput,
  signal: AbortSignal,
): AsyncIterable<readonly EventText[]> => tailTexts({ ...runtime, ...placeOf(runtime, input), signal })

const placeOf = (
  { store }: Pick<Runtime, "store">,
  { sessionID, after = 0, follow = false }: EventsInput,
) => {
  if (!Number.isSafeInteger(after) || after < 0) throw invalid("`after` is a sequence number, 0 or more")
  return { sessionID, after, follow, key: store.log.head(sessionID).key }
}

/** Which sessions changed, until nobody asks any more. */
export const readChanges = (
  { signals }: Pick<Runtime, "signals">,
  signal: AbortSignal,
): AsyncIterable<SessionChanges> => changedSessions(signals, signal)

export const readLive = (
  { store, signals }: Pick<Runtime, "store" | "signals">,
  sessionID: string,
  signal: AbortSignal,
): AsyncIterable<LiveItem> => {
  store.log.head(sessionID)
  return liveItems((receive) => signals.watchLive(sessionID, receive), signal)
}

const streamOf = <Item>(open: (signal: AbortSignal) => AsyncIterable<Item>): Stream.Stream<Item, Failure> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const controller = yield* Effect.acquireRelease(
        Effect.sync(() => new AbortController()),
        (opened) => Effect.sync(() => opened.abort()),
      )
      const items = yield* attemptNow(() => open(controller.signal))
      return Stream.fromAsyncIterable(items, asFailure)
    }),
  )

const invalid = (what: string): Failure => new Failure("INVALID_INPUT", { what })

const asFailure = (cause: unknown): Failure => {
  if (cause instanceof Failure) return cause
  throw cause
}

const checkId = (id: string | undefined): string | undefined => {
  if (id === undefined) return undefined
  if (typeof id !== "string" || !/^[\p{L}\p{N}_.:@/+-]{1,200}$/u.test(id))
    throw invalid("An id is 1 to 200 letters, digits or _ . : @ / + -")
  return id
}

const checkImport = ({ id, location, title, source, began, history }: ImportInput): ImportRequest => {
  const { format, id: name, digest }: Readonly<Record<string, unknown>> = Object(source)
  if (typeof format !== "string" || !/^[a-z]{1,20}$/.test(format))
    throw invalid("The `source` has a `format` of 1 to 20 small letters")
  if (typeof name !== "string" || typeof digest !== "string" || name === "" || digest === "")
    throw invalid("The `source` has an `id` and a `digest`")
  if (title !== undefined && typeof title !== "string") throw invalid("A title is a text")
  if (began !== undefined && (!Number.isSafeInteger(began) || began < 0 || began > LATEST_TIME))
    throw invalid("`began` is a time in milliseconds since 1970, before the year 10000")
  const given: unknown = history
  if (
    typeof given !== "object" ||
    given === null ||
    !(Symbol.iterator in given || Symbol.asyncIterator in given)
  )
    throw invalid("`history` is a list of pieces, or reads them one by one")
  return {
    id: checkId(id),
    location: checkLocation(location),
    title,
    source: { format, id: cutText(name, 500), digest: cutText(digest, 500) },
    began,
    history,
  }
}

const checkPrompt = (prompt: Prompt): void => {
  const text: unknown = prompt?.text
  if (typeof text !== "string") throw invalid("A prompt has a `text`")
  const files = checkFiles(prompt.files ?? [])
  if (text === "" && files.length === 0) throw invalid("A prompt is not empty")
  if (files.length > LIMITS.promptFiles) throw invalid(`A prompt has at most ${LIMITS.promptFiles} files`)
  const bytes = Buffer.byteLength(text) + files.reduce((sum, file) => sum + file.base64.length, 0)
  if (bytes > LIMITS.promptBytes)
    throw invalid(`A prompt is at most ${LIMITS.promptBytes} bytes, this one is ${bytes}`)
}

const checkFiles = (files: unknown): NonNullable<Prompt["files"]> => {
  if (!Array.isArray(files)) throw invalid("`files` is a list")
  for (const file of files) {
    const { mediaType, base64, name }: Readonly<Record<string, unknown>> = Object(file)
    if (
      typeof mediaType !== "string" ||
      typeof base64 !== "string" ||
      (name !== undefined && typeof name !== "string")
    )
      throw invalid("A file has a `mediaType`, its content as `base64` and maybe a `name`")
    // A provider would refuse it only when it has become part of the history.
    if (!MEDIA_TYPE.test(mediaType)) throw invalid("A `mediaType` is like image/png")
    if (!BASE64.test(base64)) throw invalid("The content of a file is `base64`")
  }
  return files
}

const MEDIA_TYPE = /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

const checkLocation = (location: Location): Location => {
  const directory: unknown = location?.directory
  if (typeof directory !== "string" || !isAbsolute(directory) || directory.includes("\0"))
    throw invalid("A location is an absolute directory")
  const resolved = resolve(directory)
  if (statSync(resolved, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new Failure("LOCATION_NOT_FOUND", { directory: resolved })
  return { directory: resolved }
}

const checkPage = (input: PageInput, most: number) => {
  const { cursor, limit = LIMITS.messagesPerPageByDefault, order = "asc" } = input
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > most)
    throw invalid(`A page has 1 to ${most} items`)
  if (order !== "asc" && order !== "desc") throw invalid('Order is "asc" or "desc"')
  if (cursor !== undefined && typeof cursor !== "string") throw new Failure("INVALID_CURSOR")
  return { limit, order, ...(cursor === undefined ? {} : { cursor }) }
}
