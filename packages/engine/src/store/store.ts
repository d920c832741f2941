/** The store of one engine: the database and everything that reads or writes it. */
import type { World } from "../port/world.ts"
import { openDatabase, type Database, type Tap } from "./database.ts"
import { createDrafts, type Drafts } from "./drafts.ts"
import { createInbox, type Inbox } from "./inbox.ts"
import { createLeases, type Leases } from "./leases.ts"
import { createLog, type Log } from "./log.ts"
import { createReader, type Reader } from "./reader.ts"
import { rebuildProjections } from "./rebuild.ts"
import { createSearchIndex, type SearchIndex } from "./search-index.ts"

export interface Store {
  readonly database: Database
  readonly log: Log
  readonly inbox: Inbox
  readonly reader: Reader
  readonly leases: Leases
  readonly drafts: Drafts
  readonly search: SearchIndex
  /** Drops every projection and derives it again from the log. */
  readonly rebuild: () => void
  readonly close: () => void
}

export const openStore = (options: {
  readonly file: string
  readonly world: World
  readonly leaseMs: number
  readonly tap?: Tap
}): Store => {
  const { file, world, leaseMs, tap } = options
  const database = openDatabase(file, tap)
  const leases = createLeases({ database, world, leaseMs })
  const log = createLog({ database, now: world.now, isAlone: () => leases.atWork() <= 1 })
  const reader = createReader(database)
  const drafts = createDrafts({ database, log, leases })
  return {
    database,
    log,
    leases,
    drafts,
    inbox: createInbox({ database, log }),
    reader,
    search: createSearchIndex({ database, reader }),
    rebuild: () => rebuildProjections(database, log.projector),
    close: () => {
      drafts.close()
      leases.close()
      database.close()
    },
  }
}
