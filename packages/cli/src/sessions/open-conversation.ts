/**
 * One session of any harness, whole and in order, as its reader returns it: the active branch, without anything taken
 * back. Read-only.
 */
import {
  createLosses,
  isSpoken,
  openTranscript,
  READERS,
  type About,
  type Format,
  type Losses,
  type OpenTranscript,
  type SpokenPiece,
} from "@meridian/continuity"
import { Failure, parseObject, type JsonObject } from "@meridian/protocol"
import type { World } from "@meridian/spaces"

import { openEnginePieces } from "./engine-pieces.ts"
import { openEngines } from "./engine-store.ts"
import { harnessPlaces } from "./harness-places.ts"
import { keptFiles } from "./kept-files.ts"
import { databaseStamp, openReadOnly } from "./open-read-only.ts"
import { opencodeEntries } from "./opencode-store.ts"
import { sessionName, type SessionName } from "./session-name.ts"

export interface Conversation extends AsyncDisposable {
  readonly name: SessionName
  readonly about: About
  /** Can be read once. */
  readonly pieces: () => Iterable<SpokenPiece> | AsyncIterable<SpokenPiece>
  readonly losses: Losses
}

/**
 * Rejects with SESSION_NOT_FOUND, and with IMPORT_UNREADABLE if it exists but cannot be read. `database` limits the
 * search to that one.
 */
export const openConversation = async (
  name: SessionName,
  world: Pick<World, "env" | "cwd">,
  database?: string,
): Promise<Conversation> => {
  const found =
    name.keeper === "engine"
      ? await openEngineConversation(name, world, database)
      : name.keeper === "opencode"
        ? openOpencodeConversation(name, world)
        : openFileConversation({ ...name, keeper: name.keeper }, world)
  if (found === undefined) throw new Failure("SESSION_NOT_FOUND", { session: sessionName(name) })
  return found
}

const openFileConversation = (
  name: SessionName & { readonly keeper: "claude" | "codex" | "pi" },
  { env }: Pick<World, "env">,
): Conversation | undefined => {
  const path = fileOfSession(name, env)
  if (path === undefined) return undefined
  const opened = openTranscript(path)
  if (typeof opened === "string") throw new Failure("IMPORT_UNREADABLE", { file: path, why: opened })
  const losses = createLosses()
  return {
    ...surveyed(name, {
      format: name.keeper,
      losses,
      first: entriesOf(opened, (kind) => losses.add(kind)),
      second: () => entriesOf(opened, () => undefined),
    }),
    [Symbol.asyncDispose]: async () => opened[Symbol.dispose](),
  }
}

/** All lines, including a last one without a newline: it may be whole, or half of what its harness was writing. */
function* entriesOf(
  opened: OpenTranscript,
  onBad: (kind: "damaged" | "long") => void,
): Generator<JsonObject> {
  const end = opened.end()
  yield* opened.lines({ from: 0, to: end }, onBad)
  if (end === opened.bytes) return
  if (opened.bytes - end > LAST_LINE_BYTES) return onBad("long")
  const last = parseObject(opened.slice(end, opened.bytes - end).toString("utf8"))
  if (last === undefined) onBad("damaged")
  else yield last
}

const LAST_LINE_BYTES = 64 * 1024 * 1024

/** For a harness that keeps each session in a file. */
export const fileOfSession = (name: SessionName, env: World["env"]): string | undefined =>
  keptFiles(harnessPlaces(env)).find(({ keeper, path }) => keeper === name.keeper && isNamed(path, name.id))
    ?.path

/** `8956b66f-….jsonl`, `rollout-<time>-<id>.jsonl`, `<time>_<id>.jsonl`. */
const isNamed = (path: string, id: string): boolean => {
  const stem = path.slice(path.lastIndexOf("/") + 1).replace(/\.jsonl$/, "")
  return id !== "" && (stem === id || stem.endsWith(`-${id}`) || stem.endsWith(`_${id}`))
}

const openOpencodeConversation = (
  name: SessionName,
  { env }: Pick<World, "env">,
): Conversation | undefined => {
  const path = harnessPlaces(env).opencode
  if (databaseStamp(path) === undefined) return undefined
  const database = openReadOnly(path)
  try {
    const entries = (): Iterable<JsonObject> => opencodeEntries(database, name.id)
    if ([...take(entries(), 1)].length === 0) {
      database.close()
      return undefined
    }
    const losses = createLosses()
    return {
      ...surveyed(name, { format: "opencode", losses, first: entries(), second: entries }),
      [Symbol.asyncDispose]: async () => database.close(),
    }
  } catch (cause) {
    database.close()
    throw new Failure("IMPORT_UNREADABLE", { file: path, why: String(cause) }, { cause })
  }
}

function* take<Item>(items: Iterable<Item>, count: number): Generator<Item> {
  let left = count
  for (const item of items) {
    if (left === 0) return
    left -= 1
    yield item
  }
}

/** Reads twice: first to see which entries count, then to read those. */
const surveyed = (
  name: SessionName,
  source: {
    readonly format: Format
    readonly losses: Losses
    readonly first: Iterable<JsonObject>
    readonly second: () => Iterable<JsonObject>
  },
): Omit<Conversation, typeof Symbol.asyncDispose> => {
  const reader = READERS[source.format](source.losses)
  for (const entry of source.first) reader.survey(entry)
  return {
    name,
    about: reader.about() ?? { id: name.id },
    losses: source.losses,
    pieces: function* () {
      for (const entry of source.second()) yield* reader.read(entry).filter(isSpoken)
    },
  }
}

const openEngineConversation = async (
  name: SessionName,
  world: Pick<World, "env" | "cwd">,
  database: string | undefined,
): Promise<Conversation | undefined> => {
  await using opened = new AsyncDisposableStack()
  const engines = opened.use(await openEngines(world, database))
  for (const path of database === undefined ? engines.paths : engines.paths.slice(0, 1)) {
    const source = opened.use(await engines.open(path))
    const session = await source.session(name.id)
    if (session === undefined) continue
    const { id, directory, title, created, seq } = session
    const kept = opened.move()
    return {
      name,
      about: { id, directory, began: created, ...(title === undefined ? {} : { title }) },
      losses: createLosses(),
      pieces: async function* () {
        const pieces = openEnginePieces()
        for await (const events of source.events(session, { after: 0, through: seq }))
          for (const event of events) yield* pieces(event)
      },
      [Symbol.asyncDispose]: () => kept.disposeAsync(),
    }
  }
  return undefined
}
