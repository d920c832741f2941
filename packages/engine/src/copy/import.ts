/**
 * Imports a foreign conversation as a session: a draft, written while its pieces are read, in bounded memory, and published
 * after the last one. The same source gives the same session, however often it is imported.
 */
import { createHash } from "node:crypto"

import {
  Failure,
  reader,
  sessionId,
  type DurableEventData,
  type Location,
  type SessionId,
} from "@meridian/protocol"
import { Clock, Effect, Stream } from "effect"

import type { DatedEvent } from "../domain/fork.ts"
import { IMPORT_PIECE, type ImportPiece } from "../domain/import-piece.ts"
import { createAssembler, type Assembler, type ImportCounts } from "../domain/import.ts"
import { LIMITS } from "../domain/limits.ts"
import { fromThrowing } from "../port/from-throwing.ts"
import { Store } from "../port/store.ts"
import type { Signals } from "../session/index.ts"
import { writeDraft } from "./write-draft.ts"

export type ImportSource = NonNullable<DurableEventData["session.next.created.1"]["imported"]>

export interface ImportRequest {
  readonly id: string | undefined
  readonly location: Location
  readonly title: string | undefined
  readonly source: ImportSource
  readonly began: number | undefined
  readonly history: Iterable<ImportPiece> | AsyncIterable<ImportPiece>
}

export interface Imported {
  readonly id: SessionId
  /** False: it existed already, from the same source in the same state. */
  readonly created: boolean
  readonly counts: ImportCounts
}

export const importSession = (request: ImportRequest): Effect.Effect<Imported, Failure, Store | Signals> =>
  Effect.gen(function* () {
    const { location, title, source, history } = request
    const id = yield* fromThrowing(() => sessionId(request.id ?? idOf(source)))
    const began = request.began ?? (yield* Clock.currentTimeMillis)
    if (yield* isImported(id, source)) {
      const assembler = createAssembler({ id: idsOf("0"), time: began })
      const counts = yield* assemble(history, assembler, () => Effect.void)
      return { id, created: false, counts }
    }
    const data = { sessionID: id, location, ...(title === undefined ? {} : { title }), imported: source }
    const creation = { type: "session.next.created.1", time: began, data } as const
    const { created, written } = yield* writeDraft(creation, (draft) =>
      assemble(history, createAssembler({ id: idsOf(draft.name), time: began }), draft.append),
    )
    // Another process has imported the same at the same moment, or the id was taken for something else.
    if (!created) yield* isImported(id, source)
    return { id, created, counts: written }
  })

/** True for an import of the same state. An import of another state, or any other session with the id, is in the way. */
const isImported = (id: string, source: ImportSource): Effect.Effect<boolean, Failure, Store> =>
  Effect.gen(function* () {
    const store = yield* Store
    const [first] = yield* store.events({ session: id, after: 0, limit: 1 })
    if (first === undefined) return false
    const imported = first.type === "session.next.created.1" ? first.data.imported : undefined
    if (imported?.format !== source.format || imported.id !== source.id)
      return yield* Effect.fail(new Failure("SESSION_EXISTS", { session: id }))
    if (imported.digest !== source.digest)
      return yield* Effect.fail(new Failure("IMPORT_CHANGED", { session: id }))
    return true
  })

const READABLE = /^[\w-]{1,100}$/

const idOf = ({ format, id }: ImportSource): string =>
  `ses_${format}_${READABLE.test(id) ? id : createHash("sha256").update(id).digest("hex").slice(0, 32)}`

const idsOf =
  (name: string) =>
  (prefix: string, n: number): string =>
    `${prefix}${createHash("sha256").update(`import ${name} ${n}`).digest("hex").slice(0, 32)}`

/**
 * Reads on only when the pieces so far are stored. An error thrown by the reader ends the import; a Failure stays a
 * Failure.
 */
const assemble = (
  history: ImportRequest["history"],
  assembler: Assembler,
  append: (events: readonly DatedEvent[]) => Effect.Effect<void, Failure>,
): Effect.Effect<ImportCounts, Failure> =>
  Effect.gen(function* () {
    let batch: DatedEvent[] = []
    let characters = 0
    let total = 0
    const flush = Effect.suspend(() => {
      const taken = batch
      batch = []
      characters = 0
      // Lets other work of this process run.
      return Effect.andThen(append(taken), Effect.yieldNow)
    })
    const add = (events: readonly DatedEvent[]): Effect.Effect<void, Failure> => {
      for (const event of events) {
        batch.push(event)
        characters += weightOf(event)
      }
      total += events.length
      if (total > LIMITS.importedEvents)
        return Effect.fail(
          new Failure("IMPORT_TOO_LARGE", { what: `more than ${LIMITS.importedEvents} events` }),
        )
      return batch.length >= LIMITS.eventsPerPage || characters >= LIMITS.importedBatchCharacters
        ? flush
        : Effect.void
    }
    yield* Stream.runForEach(piecesOf(history), (piece) =>
      Effect.flatMap(
        fromThrowing(() => assembler.take(readPiece(piece))),
        add,
      ),
    )
    yield* add(assembler.end())
    yield* flush
    return assembler.counts()
  })

const readPiece = reader(IMPORT_PIECE, { what: "A piece of the history", unknown: "keep" })

const piecesOf = (history: ImportRequest["history"]): Stream.Stream<ImportPiece, Failure> =>
  Stream.fromAsyncIterable(iterate(history), (cause) => {
    if (cause instanceof Failure) return cause
    throw cause
  })

async function* iterate(history: ImportRequest["history"]): AsyncGenerator<ImportPiece, void, void> {
  yield* history
}

/** The approximate memory of an event that waits to be written. */
const weightOf = (event: DatedEvent): number => {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the others are small
  switch (event.type) {
    case "session.next.prompted.1":
      return (event.data.prompt.files ?? []).reduce(
        (sum, file) => sum + file.base64.length,
        event.data.prompt.text.length,
      )
    case "session.next.text.ended.1":
    case "session.next.reasoning.ended.1":
      return event.data.text.length
    case "session.next.tool.success.1":
      return event.data.content.reduce(
        (sum, part) => sum + (part.type === "text" ? part.text.length : part.base64.length),
        0,
      )
    default:
      return 1_000
  }
}
