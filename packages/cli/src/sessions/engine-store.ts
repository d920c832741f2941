/**
 * The engine's databases for readers. The engine itself would write to a file, and would be one more node of a
 * server. In a file: tables `session` (one row each, with its key) and `event`, where the events of a session have
 * the ids `key * 2^31 + seq`. The engine keeps that form for stored data.
 */
import { resolve } from "node:path"
import type { DatabaseSync } from "node:sqlite"

import type { LookedSession } from "@meridian/engine"
import { decodeEvent, type StoredEvent } from "@meridian/protocol"
import type { World } from "@meridian/spaces"

import { engineDatabases } from "./engine-databases.ts"
import { openReadOnly } from "./open-read-only.ts"

/** One session of a file or of a server. */
export type EngineSession = LookedSession

export interface EngineSource extends AsyncDisposable {
  /** For a server: changes if the database was recreated. */
  readonly identity?: string
  readonly sessions: () => Promise<readonly EngineSession[]>
  readonly session: (id: string) => Promise<EngineSession | undefined>
  /** After `after`, up to `through`, in batches. Skips what this version cannot read. */
  readonly events: (
    session: Pick<EngineSession, "key">,
    range: { readonly after: number; readonly through: number },
  ) => Iterable<Iterable<StoredEvent>> | AsyncIterable<Iterable<StoredEvent>>
}

export interface Engines extends AsyncDisposable {
  /** Files by path, a server by its public name. The named one comes first. */
  readonly paths: readonly string[]
  /** The one of them that is a server. */
  readonly server: string | undefined
  /** Rejects if it cannot be read. A server gets a single connection, which stays open as long as this does. */
  readonly open: (path: string) => Promise<EngineSource>
}

/** `asked` is `--database`. Without it MERIDIAN_DATABASE may name one. */
export const openEngines = async (world: Pick<World, "env" | "cwd">, asked?: string): Promise<Engines> => {
  const noted = engineDatabases(world)
  const named = asked ?? world.env["MERIDIAN_DATABASE"] ?? ""
  if (named === "") return enginesOf(noted, undefined)
  // The engine is only loaded for this.
  const [{ findDatabase }, { isServerAddress, lookAtServer, readAddress }] = await Promise.all([
    import("../engine-database.ts"),
    import("@meridian/engine"),
  ])
  if (!isServerAddress(named)) {
    const file = asked === undefined ? resolve(world.cwd, named) : findDatabase(asked, world)
    return enginesOf([...new Set([file, ...noted])], undefined)
  }
  const address = findDatabase(asked, world)
  const { shown } = readAddress(address)
  let opened: ReturnType<typeof lookAtServer> | undefined
  return enginesOf([shown, ...noted], {
    name: shown,
    open: () => (opened ??= lookAtServer(address)),
    close: async () => (await opened?.catch(() => undefined))?.close(),
  })
}

const enginesOf = (
  paths: readonly string[],
  server:
    | {
        readonly name: string
        readonly open: () => Promise<Omit<EngineSource, typeof Symbol.asyncDispose>>
        readonly close: () => Promise<void>
      }
    | undefined,
): Engines => ({
  paths,
  server: server?.name,
  open: async (path) =>
    path === server?.name
      ? { ...(await server.open()), [Symbol.asyncDispose]: async () => undefined }
      : fileSource(openReadOnly(path)),
  [Symbol.asyncDispose]: async () => server?.close(),
})

const COLUMNS = "id, key, seq, directory, title, created, updated"
const STRIDE = 2_147_483_648

const fileSource = (database: DatabaseSync): EngineSource => ({
  sessions: async () =>
    database.prepare(`select ${COLUMNS} from session order by updated desc`).all().map(sessionOf),
  session: async (id) => {
    const row = database.prepare(`select ${COLUMNS} from session where id = ?`).get(id)
    return row === undefined ? undefined : sessionOf(row)
  },
  events: (session, range) => [storedEvents(database, session, range)],
  [Symbol.asyncDispose]: async () => database.close(),
})

const sessionOf = (row: Record<string, unknown>): EngineSession => ({
  id: String(row["id"]),
  key: Number(row["key"]),
  seq: Number(row["seq"]),
  directory: String(row["directory"]),
  title: typeof row["title"] === "string" ? row["title"] : undefined,
  created: Number(row["created"]),
  updated: Number(row["updated"]),
})

function* storedEvents(
  database: DatabaseSync,
  { key }: Pick<EngineSession, "key">,
  { after, through }: { readonly after: number; readonly through: number },
): Generator<StoredEvent> {
  const rows = database
    .prepare("select id, type, time, data from event where id > ? and id <= ? order by id")
    .iterate(key * STRIDE + after, key * STRIDE + through)
  for (const row of rows) {
    const event = decodeEvent({
      seq: Number(row["id"]) % STRIDE,
      time: Number(row["time"]),
      type: String(row["type"]),
      data: String(row["data"]),
    })
    if (event.type !== "unknown") yield event
  }
}
