/** A read-only view of a server's sessions: nothing is written there, and no node appears. */
import { decodeEvent, type StoredEvent } from "@meridian/protocol"

import { machineMs, pause } from "../../port/machine-time.ts"
import { readAddress } from "./address.ts"
import { openConnection } from "./connection.ts"
import { requireSchema } from "./migrate.ts"
import { createServerRows, type Head } from "./rows.ts"

export interface ServerLook {
  /** In a form that may be shown. */
  readonly name: string
  /** Identifies the schema. A recreated schema has a different one. */
  readonly identity: string
  readonly sessions: () => Promise<readonly LookedSession[]>
  readonly session: (id: string) => Promise<LookedSession | undefined>
  /** Events after `after`, up to `through`, one page at a time. Skips what this version cannot read. */
  readonly events: (
    session: Pick<LookedSession, "key">,
    range: { readonly after: number; readonly through: number },
  ) => AsyncIterable<readonly StoredEvent[]>
  readonly close: () => Promise<void>
}

export interface LookedSession {
  readonly id: string
  readonly key: number
  /** The sequence of the last event. */
  readonly seq: number
  readonly directory: string
  readonly title: string | undefined
  readonly created: number
  readonly updated: number
}

const PATIENCE_MS = 2_000
const SESSIONS_PER_PAGE = 1_000
const EVENTS_PER_PAGE = 1_000

export const openLook = async (text: string): Promise<ServerLook> => {
  const address = readAddress(text)
  const { schema } = address
  const connection = openConnection({
    address,
    onAnswer: () => undefined,
    monotonic: machineMs,
    sleep: (ms) => pause(ms),
    patienceMs: PATIENCE_MS,
  })
  try {
    await requireSchema(connection, address)
    const [store] = await connection.ask(`select id from ${schema}.store`)
    const rows = createServerRows(connection, schema)
    return {
      name: address.shown,
      identity: String(store?.["id"]),
      sessions: async () => {
        const found: LookedSession[] = []
        for (let from = 0; ;) {
          const page = await rows.sessions({ direction: "up", from, limit: SESSIONS_PER_PAGE })
          for (const { item } of page) found.push(lookedSession(item))
          const last = page.at(-1)
          if (last === undefined || page.length < SESSIONS_PER_PAGE) return found
          from = last.place
        }
      },
      session: async (id) => {
        const head = await rows.head(id)
        return head === undefined ? undefined : lookedSession(head)
      },
      events: async function* ({ key }, { after, through }) {
        for (let from = after; from < through; from += EVENTS_PER_PAGE) {
          const page = await rows.events(key, from, Math.min(EVENTS_PER_PAGE, through - from))
          yield page.map(decodeEvent).filter((event) => event.type !== "unknown")
        }
      },
      close: connection.close,
    }
  } catch (cause) {
    await connection.close()
    throw cause
  }
}

const lookedSession = ({ id, key, seq, summary }: Head): LookedSession => ({
  id,
  key,
  seq,
  directory: summary.location.directory,
  title: summary.title,
  created: summary.created,
  updated: summary.updated,
})
