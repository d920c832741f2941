/**
 * A database of somebody else, to look into and nothing more. One that nobody has open is read as a file that does not
 * change: otherwise SQLite would leave its own two files beside it.
 */
import { statSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { pathToFileURL } from "node:url"

export const openReadOnly = (path: string): DatabaseSync => {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })
  const url = pathToFileURL(path)
  if (log === undefined || log.size === 0) url.searchParams.set("immutable", "1")
  const database = new DatabaseSync(url, { readOnly: true, timeout: WAIT_MS })
  // Somebody else wrote its schema: what that may call is not ours to run.
  database.exec("pragma trusted_schema = off")
  return database
}

const WAIT_MS = 500

/** Changes whenever the database may have changed; undefined when it is not there. */
export const databaseStamp = (path: string): string | undefined => {
  const [main, log] = [path, `${path}-wal`].map((file) => statSync(file, { throwIfNoEntry: false }))
  if (main?.isFile() !== true) return undefined
  return [main, log].map((file) => (file === undefined ? "" : `${file.size}:${file.mtimeMs}`)).join(" ")
}
