/** `meridian search`: finds everything that was ever said in a session on this machine. */
import { join } from "node:path"

import { Failure, oneLine, type TypeOf } from "@meridian/protocol"
import { implement, openPlace, type World } from "@meridian/spaces"

import { countSessions, findSessions, type FoundSession, type Scope } from "../search/find-sessions.ts"
import { IndexFailure } from "../search/index-writer.ts"
import { SEARCH_LIMITS } from "../search/limits.ts"
import { readQuery } from "../search/query.ts"
import { discardIndex, isBusy, isDamage, openSearchIndex } from "../search/search-index.ts"
import { updateIndex } from "../search/update-index.ts"
import { openEngines, type Engines } from "../sessions/engine-store.ts"
import { cacheFolder, harnessPlaces } from "../sessions/harness-places.ts"
import { continueLine, sessionName } from "../sessions/session-name.ts"
import { openProgress } from "./progress.ts"
import { SEARCH } from "./search.meta.ts"

type Document = TypeOf<typeof SEARCH.output>

export const search = implement(SEARCH, {
  run: async (input, world) => {
    const query = readQuery(input.words.join(" "))
    if (query === undefined)
      throw new Failure("USAGE", {
        problem: "There is no word to look for.",
        next: "name one: letters or digits.",
      })
    await using engines = await openEngines(world, input.database)
    const scope: Scope = {
      server: engines.server,
      ...(input.all ? {} : { directory: openPlace(world.env, world.cwd).project }),
      ...(input.harness === undefined ? {} : { keeper: input.harness }),
    }
    const limit = Math.min(input.limit, SEARCH_LIMITS.results)
    const answerOf = resultOf(input.database)
    return await withIndex(world, engines, async (database) => ({
      results: (await findSessions(database, query, { ...scope, engines, limit })).map(answerOf),
      searched: countSessions(database, scope),
    }))
  },
  text: ({ results, searched }) =>
    results.length === 0
      ? `Nothing in ${sessions(searched)}.`
      : [...results.map(blockOf), `${sessions(results.length)} of ${searched}.`].join("\n\n"),
  exitCode: ({ results }) => (results.length === 0 ? 1 : 0),
})

type Database = ReturnType<typeof openSearchIndex>["database"]

/** A damaged index is deleted and rebuilt, once. */
const withIndex = async <Result>(
  world: World,
  engines: Engines,
  look: (database: Database) => Promise<Result>,
): Promise<Result> => {
  const file = join(cacheFolder(world.env), "search.sqlite")
  try {
    return await lookOnce(file, world, engines, look)
  } catch (error) {
    const cause = error instanceof IndexFailure ? error.cause : error
    if (!isDamage(cause)) throw unusable(file, cause)
  }
  world.warn("SEARCH_INDEX_REBUILT", { file })
  discardIndex(file)
  return lookOnce(file, world, engines, look)
}

const lookOnce = async <Result>(
  file: string,
  world: World,
  engines: Engines,
  look: (database: Database) => Promise<Result>,
): Promise<Result> => {
  const { database, isReplaced } = openSearchIndex(file)
  using opened = database
  if (isReplaced) world.warn("SEARCH_INDEX_REBUILT", { file })
  await update(opened, world, engines)
  world.signal.throwIfAborted()
  return await look(opened)
}

const update = async (database: Database, world: World, engines: Engines): Promise<void> => {
  using progress = await openProgress(world, "Indexing sessions")
  try {
    const { unreadable } = await updateIndex(database, {
      places: harnessPlaces(world.env),
      engines,
      signal: world.signal,
      progress: progress.show,
    })
    const [first] = unreadable
    if (first !== undefined) world.warn("SEARCH_SOURCES_UNREADABLE", { count: unreadable.length, first })
  } catch (error) {
    // The existing index can still be searched.
    if (!(error instanceof IndexFailure && isBusy(error.cause))) throw error
    world.warn("SEARCH_INDEX_BUSY")
  }
}

const unusable = (file: string, cause: unknown): unknown => {
  const code: unknown = cause instanceof Error ? Reflect.get(cause, "code") : undefined
  if (cause instanceof Failure || typeof code !== "string") return cause
  return new Failure("SEARCH_INDEX_UNUSABLE", { file, reason: oneLine(String(cause), 200) }, { cause })
}

/** The command that continues a server's session names the server as the user named it. */
const resultOf =
  (asked: string | undefined) =>
  (found: FoundSession): Document["results"][number] => {
    const { keeper, id, path, title, directory } = found
    const database = path.startsWith("/") ? undefined : asked
    return {
      harness: keeper,
      id: sessionName({ keeper, id }),
      time: new Date(found.time).toISOString(),
      snippet: found.snippet,
      continue: continueLine({ keeper, id }, { place: directory, file: path, database }),
      ...(title === undefined || title === "" ? {} : { title: oneLine(title, TITLE_CHARACTERS) }),
      ...(directory === undefined ? {} : { place: directory }),
    }
  }

const TITLE_CHARACTERS = 100

const blockOf = ({ id, time, title, place, snippet, continue: line }: Document["results"][number]): string =>
  [
    [id, time.slice(0, 16).replace("T", " "), place, title].flatMap((part) =>
      part === undefined ? [] : [oneLine(part)],
    ),
    [`  ${snippet}`],
    [`  ${oneLine(line)}`],
  ]
    .map((parts) => parts.join("  "))
    .join("\n")

const sessions = (count: number): string => `${count} session${count === 1 ? "" : "s"}`
