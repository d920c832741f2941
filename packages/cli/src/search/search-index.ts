/**
 * The index, one SQLite file in the user's cache. It holds no text, only the places of words; a snippet is read from
 * the source itself.
 *
 *   source    a file or a database of a harness. `stamp` changes with it; `through` is how far a file was indexed, `head`
 *             the digest of its beginning: a file that was replaced is indexed anew.
 *   session   a conversation. `mark` is how far one in a database was indexed (its last change, or its last event).
 *   place     a part of a session: bytes of its file, messages of OpenCode, events of the engine.
 *   words     the words of each place (FTS5 without content), by the place's id.
 *
 * An index of another version, or one SQLite cannot read, is deleted and rebuilt from the sources.
 */
import { chmodSync, mkdirSync, rmSync } from "node:fs"
import { dirname } from "node:path"
import { DatabaseSync } from "node:sqlite"

const VERSION = 1

/** Bytes of words held in memory before they are written, sorted: the more, the less must be merged later. */
const HASH_BYTES = 64 * 1024 * 1024

const SCHEMA = `
  create table source (
    id integer primary key,
    path text not null unique,
    keeper text not null,
    stamp text not null,
    through integer not null default 0,
    head text not null default ''
  ) strict;
  create table session (
    id integer primary key,
    source integer not null references source (id),
    name text not null,
    mark integer not null default 0,
    title text,
    directory text,
    began integer,
    updated integer not null,
    unique (source, name)
  ) strict;
  create table place (
    id integer primary key,
    session integer not null references session (id),
    first integer not null,
    last integer not null,
    time integer
  ) strict;
  create index place_session on place (session);
  create virtual table words using fts5 (
    text, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 2"
  );
  insert into words (words, rank) values ('hashsize', ${HASH_BYTES}), ('automerge', 0);
  pragma user_version = ${VERSION};
`

export interface SearchIndex {
  readonly database: DatabaseSync
  /** An existing index was unusable and has been deleted. */
  readonly isReplaced: boolean
}

/** Throws what SQLite throws if none can be opened or made. */
export const openSearchIndex = (path: string): SearchIndex => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  try {
    return { database: openOrMake(path), isReplaced: false }
  } catch (error) {
    if (!(error instanceof UnusableIndex) && !isDamage(error)) throw error
  }
  discardIndex(path)
  return { database: openOrMake(path), isReplaced: true }
}

/** Everything in it can be rebuilt. */
export const discardIndex = (path: string): void => {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) rmSync(file, { force: true })
}

/** Whether SQLite found the file damaged. */
export const isDamage = (error: unknown): boolean =>
  codeOf(error) === CORRUPT || codeOf(error) === NOT_A_DATABASE

/** Whether another process is writing. */
export const isBusy = (error: unknown): boolean => codeOf(error) === BUSY

/** SQLite's result codes. */
const [BUSY, CORRUPT, NOT_A_DATABASE] = [5, 11, 26] as const

const codeOf = (error: unknown): number => {
  const code: unknown = error instanceof Error ? Reflect.get(error, "errcode") : undefined
  // The upper bytes hold an extended code.
  return typeof code === "number" ? code % 256 : 0
}

class UnusableIndex extends Error {}

const openOrMake = (path: string): DatabaseSync => {
  const database = new DatabaseSync(path, { timeout: BUSY_MS })
  try {
    chmodSync(path, 0o600)
    database.exec(
      "pragma journal_mode = wal; pragma synchronous = normal; pragma cache_size = -65536; pragma temp_store = memory",
    )
    if (versionOf(database) === VERSION) return database
    // Another process may be making it at this moment.
    database.exec("begin immediate")
    const version = versionOf(database)
    if (version === 0) database.exec(SCHEMA)
    database.exec("commit")
    if (version !== 0 && version !== VERSION) throw new UnusableIndex()
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

const versionOf = (database: DatabaseSync): number =>
  Number(database.prepare("pragma user_version").get()?.["user_version"])

const BUSY_MS = 2_000
