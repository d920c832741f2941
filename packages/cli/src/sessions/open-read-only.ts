/**
 * Another program's database, only for reading. If no process has it open, it is read as an immutable file: otherwise
 * SQLite would leave two files beside it.
 */
import { statSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { pathToFileURL } from "node:url"

export const openReadOnly = (path: string): DatabaseSync => {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })
  const url = pathToFileURL(path)
  if (log === undefined || log.size === 0) url.searchParams.set("immutable", "1")
  const database = new DatabaseSync(url, { readOnly: true, timeout: WAIT_MS })
  // Another program wrote its schema, so we must not run what it calls.
  database.exec("pragma trusted_schema = off")
  return database
}

const WAIT_MS = 500

/** Changes whenever the database may have changed. Undefined if it does not exist. */
export const databaseStamp = (path: string): string | undefined => {
  const [main, log] = [path, `${path}-wal`].map((file) => statSync(file, { throwIfNoEntry: false }))
  if (main?.isFile() !== true) return undefined
  return [main, log].map((file) => (file === undefined ? "" : `${file.size}:${file.mtimeMs}`)).join(" ")
}
