/**
 * The conversations of a project in every harness, and what was said in each, numbered. Read-only; skips what cannot
 * be read. Newest first.
 */
import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs"
import { join } from "node:path"
import type { DatabaseSync } from "node:sqlite"

import { createLosses, openTranscript, READERS, type OpenTranscript } from "@meridian/continuity"
import { objectAt, parseObject, textAt, type JsonObject } from "@meridian/protocol"
import type { World } from "@meridian/spaces"

import { openEnginePieces } from "../../sessions/engine-pieces.ts"
import type { EngineSource, Engines } from "../../sessions/engine-store.ts"
import { harnessPlaces, stateFolder, type Keeper } from "../../sessions/harness-places.ts"
import { keptFiles } from "../../sessions/kept-files.ts"
import { openReadOnly } from "../../sessions/open-read-only.ts"
import { opencodeEntries, opencodeSessions } from "../../sessions/opencode-store.ts"
import type { Chat } from "./chats.ts"
import { entriesOf, type Entry } from "./entry.ts"

export interface Conversation {
  readonly keeper: Keeper
  /** The harness's id for it. */
  readonly id: string
  readonly changed: number
  /** A transcript, or the database that holds it. */
  readonly path: string
}

export interface Surroundings extends Pick<World, "env" | "cwd"> {
  /** The root of the project. */
  readonly root: string
}

const LIMITS = {
  files: 500,
  firstBytes: 64 * 1024,
  remembered: 64,
  rememberedBytes: 8 * 1024 * 1024,
} as const

/** Conversations that worked in the project, and its chats and runs wherever they worked. */
export const findConversations = async (
  world: Surroundings,
  chats: readonly Chat[],
  engines: Engines,
): Promise<readonly Conversation[]> => {
  const isWanted = openWanted(world, chats)
  const ours: Conversation[] = []
  for (const path of engines.paths)
    for (const { id, directory, updated } of await inEngine(path, engines, (source) => source.sessions()))
      if (isWanted(id, directory)) ours.push({ keeper: "engine", id, path, changed: updated })
  return newestOfEach([...findHostConversations(world, chats), ...ours])
}

/** The same without those of the engine. */
export const findHostConversations = (
  world: Surroundings,
  chats: readonly Chat[],
): readonly Conversation[] => {
  const isWanted = openWanted(world, chats)
  const places = harnessPlaces(world.env)
  const files = [...keptFiles(places).slice(0, LIMITS.files), ...rememberedFiles(world)].flatMap(
    ({ keeper, path, changed }): readonly Conversation[] => {
      const id = idIn(path)
      return id !== undefined && isWanted(id, directoryIn(path)) ? [{ keeper, id, path, changed }] : []
    },
  )
  const opencode = inDatabase(places.opencode, opencodeSessions).map((session): Conversation | undefined =>
    isWanted(session.id, session.directory)
      ? { keeper: "opencode", id: session.id, path: places.opencode, changed: session.updated }
      : undefined,
  )
  return newestOfEach([...files, ...opencode.filter((found) => found !== undefined)])
}

const openWanted = ({ root }: Surroundings, chats: readonly Chat[]) => {
  const wanted = new Set(chats.map(({ session }) => session))
  return (id: string, directory: string | undefined): boolean => wanted.has(id) || isInside(root, directory)
}

/** If one conversation was found in several places, the first counts. */
const newestOfEach = (found: readonly Conversation[]): readonly Conversation[] => {
  const all = new Map<string, Conversation>()
  for (const one of found) {
    const name = `${one.keeper} ${one.id}`
    if (!all.has(name)) all.set(name, one)
  }
  return [...all.values()].toSorted((left, right) => right.changed - left.changed)
}

/** Numbered by line in a transcript, by message in OpenCode, by event in the engine: all of them only grow. */
export const entriesIn = async (
  { keeper, id, path }: Conversation,
  engines: Engines,
): Promise<Iterable<Entry>> =>
  keeper === "engine"
    ? await inEngine(path, engines, async (source) => {
        const session = await source.session(id)
        if (session === undefined) return []
        const entries: Entry[] = []
        const pieces = openEnginePieces()
        for await (const events of source.events(session, { after: 0, through: session.seq }))
          for (const event of events) entries.push(...entriesOf(pieces(event), event.seq))
        return entries
      })
    : entriesOfHost({ keeper, id, path })

function* entriesOfHost({
  keeper,
  id,
  path,
}: Pick<Conversation, "id" | "path"> & { readonly keeper: Exclude<Keeper, "engine"> }): Generator<Entry> {
  switch (keeper) {
    case "claude":
    case "codex":
    case "pi": {
      const opened = openTranscript(path)
      if (typeof opened === "string") return
      using transcript = opened
      const reader = READERS[keeper](createLosses())
      let number = 0
      for (const line of linesOf(transcript)) {
        number += 1
        // Abandoned branches are part of what was said.
        yield* entriesOf(reader.straight(line), number)
      }
      return
    }
    case "opencode":
      yield* inDatabase(path, (database) => {
        const reader = READERS.opencode(createLosses())
        return [...opencodeEntries(database, id)].flatMap((entry, number) => {
          reader.survey(entry)
          return entriesOf(reader.read(entry), number)
        })
      })
  }
}

const inEngine = async <Item>(
  path: string,
  engines: Engines,
  look: (source: EngineSource) => Promise<readonly Item[]>,
): Promise<readonly Item[]> => {
  try {
    await using source = await engines.open(path)
    return await look(source)
  } catch {
    // As below, or the server does not answer.
    return []
  }
}

/** Damaged lines count too, so that a number means the same line tomorrow. */
function* linesOf(transcript: OpenTranscript): Generator<JsonObject> {
  const range = { from: 0, to: transcript.end() }
  let bad = 0
  for (const line of transcript.lines(range, () => (bad += 1))) {
    for (; bad > 0; bad -= 1) yield {}
    yield line
  }
}

const inDatabase = <Item>(
  path: string,
  look: (database: DatabaseSync) => readonly Item[],
): readonly Item[] => {
  try {
    using database = openReadOnly(path)
    return look(database)
  } catch {
    // The database is missing, locked, damaged, or has an unknown shape.
    return []
  }
}

/** Files that hooks remember having read, wherever they are: Codex hides its variables from the servers it starts. */
const rememberedFiles = ({ env }: Surroundings) => {
  const folder = join(stateFolder(env), "transcripts")
  return namesIn(folder)
    .slice(0, LIMITS.remembered)
    .flatMap((name) => {
      const path = textAt(parseObject(headOf(join(folder, name), LIMITS.rememberedBytes)), "path")
      const found = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false })
      if (path === undefined || found?.isFile() !== true) return []
      const keeper = path.includes("/rollout-") ? ("codex" as const) : ("claude" as const)
      return [{ keeper, path, changed: found.mtimeMs }]
    })
}

/** `8956b66f-….jsonl`, `rollout-2026-01-02T03-04-05-<id>.jsonl`, `<time>_<id>.jsonl`. */
const idIn = (path: string): string | undefined => {
  const stem = path.slice(path.lastIndexOf("/") + 1).replace(/\.jsonl$/, "")
  return (/^rollout-.{19}-(.+)$/.exec(stem) ?? /^[\dTZ.-]{10,40}_(.+)$/.exec(stem))?.[1] ?? stem
}

/** The folder of a conversation, from the first lines that name it. */
const directoryIn = (path: string): string | undefined => {
  const head = headOf(path, LIMITS.firstBytes)
  for (const line of head.split("\n").slice(0, 20)) {
    const found = parseObject(line)
    const directory = textAt(found, "cwd") ?? textAt(objectAt(found, "payload"), "cwd")
    if (directory !== undefined) return directory
  }
  // A first line too long to parse still names it early.
  return /"cwd":"((?:[^"\\]|\\.){1,4000})"/.exec(head)?.[1]
}

const headOf = (path: string, bytes: number): string => {
  try {
    const descriptor = openSync(path, "r")
    try {
      const buffer = Buffer.alloc(Math.min(bytes, statSync(path).size))
      return buffer.toString("utf8", 0, readSync(descriptor, buffer, 0, buffer.length, 0))
    } finally {
      closeSync(descriptor)
    }
  } catch {
    return ""
  }
}

const isInside = (root: string, directory: string | undefined): boolean =>
  directory !== undefined && (directory === root || directory.startsWith(`${root}/`))

const namesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
