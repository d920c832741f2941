/**
 * A conversation from elsewhere becomes a session: a draft that is written while its pieces are read, in bounded memory,
 * and published when the last one was. The same source gives the same session, however often it is imported.
 */
import { createHash } from "node:crypto"
import { setImmediate } from "node:timers/promises"

import { Failure, sessionId, type DurableEventData, type Location } from "@meridian/protocol"
import { Effect } from "effect"

import type { DatedEvent } from "../domain/fork.ts"
import { createAssembler, type Assembler, type ImportCounts, type ImportPiece } from "../domain/import.ts"
import { LIMITS } from "../domain/limits.ts"
import type { SessionRow } from "../store/log.ts"
import type { Store } from "../store/store.ts"
import { attemptNow } from "./attempt.ts"
import type { Runtime } from "./drain.ts"
import { writeDraft } from "./fork.ts"

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
  readonly row: SessionRow
  /** False: it was there already, from the same source in the same state. */
  readonly created: boolean
  readonly counts: ImportCounts
}

export const importSession = (
  { store, world }: Pick<Runtime, "store" | "world">,
  request: ImportRequest,
): Effect.Effect<Imported, Failure> =>
  Effect.gen(function* () {
    const { location, title, source, history } = request
    const id = yield* attemptNow(() => sessionId(request.id ?? idOf(source)))
    const began = request.began ?? world.now()
    const earlier = yield* attemptNow(() => findImport(store, id, source))
    if (earlier !== undefined) {
      const counts = yield* pump(history, createAssembler({ id: idsOf(0), time: began }), () => undefined)
      return { row: earlier, created: false, counts }
    }
    const data = { sessionID: id, location, ...(title === undefined ? {} : { title }), imported: source }
    const creation = { type: "session.next.created.1", time: began, data } as const
    const { row, created, written } = yield* writeDraft(store, creation, (draft) =>
      pump(history, createAssembler({ id: idsOf(draft.key), time: began }), draft.append),
    )
    if (created) return { row, created, counts: written }
    // Another process has imported the same in the same moment, or taken the id for something else.
    const there = yield* attemptNow(() => findImport(store, id, source))
    return { row: there ?? row, created, counts: written }
  })

/** An import of the same state is found; of another state, or any other session under the id, is in the way. */
const findImport = (store: Store, id: string, source: ImportSource): SessionRow | undefined => {
  const row = store.log.find(id)
  if (row === undefined) return undefined
  const [created] = store.reader.events(row.key, 0, 1)
  const imported = created?.type === "session.next.created.1" ? created.data.imported : undefined
  if (imported?.format !== source.format || imported.id !== source.id)
    throw new Failure("SESSION_EXISTS", { session: id })
  if (imported.digest !== source.digest) throw new Failure("IMPORT_CHANGED", { session: id })
  return row
}

const READABLE = /^[\w-]{1,100}$/

const idOf = ({ format, id }: ImportSource): string =>
  `ses_${format}_${READABLE.test(id) ? id : createHash("sha256").update(id).digest("hex").slice(0, 32)}`

const idsOf =
  (key: number) =>
  (prefix: string, n: number): string =>
    `${prefix}${createHash("sha256").update(`import ${key} ${n}`).digest("hex").slice(0, 32)}`

/** Reads on only when what was read is stored. What the reader throws ends the import; a failure stays one. */
const pump = (
  history: ImportRequest["history"],
  assembler: Assembler,
  append: (events: readonly DatedEvent[]) => void,
): Effect.Effect<ImportCounts, Failure> =>
  Effect.gen(function* () {
    const outcome = yield* Effect.promise((signal) =>
      assembleAll(history, assembler, append, signal).then(
        () => ({ kind: "done" }) as const,
        (cause: unknown) => ({ kind: "failed", cause }) as const,
      ),
    )
    if (outcome.kind === "done") return assembler.counts()
    if (outcome.cause instanceof Failure) return yield* Effect.fail(outcome.cause)
    return yield* Effect.die(outcome.cause)
  })

const assembleAll = async (
  history: ImportRequest["history"],
  assembler: Assembler,
  append: (events: readonly DatedEvent[]) => void,
  signal: AbortSignal,
): Promise<void> => {
  let batch: DatedEvent[] = []
  let characters = 0
  let total = 0
  const flush = async (): Promise<void> => {
    append(batch)
    batch = []
    characters = 0
    // Room for whatever else this process does.
    await setImmediate()
    signal.throwIfAborted()
  }
  const add = (events: readonly DatedEvent[]): void => {
    for (const event of events) {
      batch.push(event)
      characters += weightOf(event)
    }
    total += events.length
    if (total > LIMITS.importedEvents)
      throw new Failure("IMPORT_TOO_LARGE", { what: `more than ${LIMITS.importedEvents} events` })
  }
  for await (const piece of history) {
    add(assembler.take(piece))
    if (batch.length >= LIMITS.eventsPerPage || characters >= LIMITS.importedBatchCharacters) await flush()
  }
  add(assembler.end())
  await flush()
}

/** About how much of memory an event waits in. */
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
