/**
 * Who may write a session's progress. Owner and number are columns of the session's row, so one statement takes a lease,
 * and an append checks the number in its own statement. A lease that is recorded for this node but not used here is
 * released repeatedly until that succeeds.
 */
import { findStranded, type Stranded } from "../../domain/stranded.ts"
import type { Acquisition, Asked, Fence } from "../../port/store.ts"
import type { Connection, Row } from "./connection.ts"
import { openGroupQueue } from "./group-queue.ts"
import { HOST, type NodeOffer, type Workers } from "./workers.ts"

export interface LeaseBook {
  readonly acquire: (session: string) => Promise<Acquisition>
  /**
   * Takes free sessions whose inputs want to run, oldest first. They rest here, so that `acquire` gets them at once; unused
   * ones are released.
   */
  readonly claim: () => Promise<readonly string[]>
  /** Whether there is a session to claim, and room for it. */
  readonly canClaim: () => Promise<boolean>
  readonly isCurrent: (fence: Fence) => Promise<boolean>
  readonly rest: (fence: Fence) => void
  /** If it fails, `giveBackStray` does it. */
  readonly release: (fence: Fence) => Promise<void>
  /** Releases the leases that have rested this long, in one statement. Returns whether none rests any more. */
  readonly giveBackRested: (ms: number) => Promise<boolean>
  /** Releases leases that are recorded for this node but neither in use nor resting here. */
  readonly giveBackStray: () => Promise<void>
  /** In use here, or resting. */
  readonly isHeld: (session: string) => boolean
  readonly ownersElsewhere: () => Promise<ReadonlyMap<string, string>>
  /** Which of these owners are other nodes and not lost. */
  readonly aliveElsewhere: (
    owners: readonly (string | undefined)[],
  ) => Promise<ReadonlySet<string | undefined>>
  /** Whether this node has a free place for the session. */
  readonly hasRoom: (session: string) => boolean
  /** Takes a requested session, unless another node was faster. It rests here. */
  readonly takeAsked: (demand: Asked) => Promise<boolean>
  /** Which of these sessions have work that no node can take up, by key. */
  readonly stranded: (keys: readonly number[]) => Promise<ReadonlyMap<number, Stranded>>
  readonly leave: () => Promise<void>
}

export const openLeaseBook = (options: {
  readonly connection: Connection
  readonly schema: string
  readonly workers: Workers
  readonly offer: NodeOffer
  readonly wall: () => number
  readonly monotonic: () => number
  /** The last event of a session that this node knows. */
  readonly seqOf: (session: string) => number
}): LeaseBook => {
  const { connection, schema, workers, wall, monotonic, seqOf } = options
  const { places, workspaces, format } = options.offer
  const { me } = workers
  /** Leases in use, resting, or just requested. These are not released behind our back. */
  const held = new Map<string, Fence | undefined>()
  const resting = new Map<string, Rest>()
  /** Claims in progress. They may record leases for this node before it knows which. */
  let claims = 0

  const room = (): number => (workers.isRetired() ? 0 : places - held.size)

  /** Columns of sessions that this statement takes: the new owner, and the format in which they may be written. */
  const TAKEN = `owner = $1, fence = s.fence + 1, host = $2,
    format = greatest(s.format, (select least($3::int, min(w.format)) from ${schema}.worker w))`
  const TAKER = [me, HOST, format] as const
  /** Records the earlier place of a session that comes to another node. */
  const STAYS = `insert into ${schema}.stay (session, fence, seq, host, time)
    select t.key, t.fence, t.seq, $2, ${SERVER_TIME} from taken t where t.was is distinct from $2`
  const MAY = `s.format <= $3::int and s.workspace = any($4::text[])`

  const restAll = (rows: readonly Row[], since: number): readonly string[] =>
    rows.map((row) => {
      const fence = { session: String(row["id"]), number: Number(row["fence"]) }
      held.set(fence.session, fence)
      resting.set(fence.session, { fence, since, seq: Number(row["seq"]) })
      return fence.session
    })

  const claiming = async (ask: () => Promise<readonly Row[]>): Promise<readonly string[]> => {
    const sentAt = monotonic()
    claims += 1
    try {
      return restAll(await ask(), sentAt)
    } finally {
      claims -= 1
    }
  }

  /** Leases taken at the same moment share one statement and one commit. */
  const takes = openGroupQueue<Take, Row | undefined>({
    lanes: [
      async (wanted) => {
        const rows = await connection.ask(
          `with old as (
             select key, id, owner, host, format from ${schema}.session
             where id = any($4::text[]) and published order by key for update),
           alive as (
             update ${schema}.worker set beat = beat + 1 where id = $1),
           taken as (
             update ${schema}.session s set ${TAKEN} from old
             where s.key = old.key and s.format <= $3::int
               and (old.owner is null or old.owner = $1 or old.owner = any($5::text[]))
             returning s.key, s.fence, s.seq, old.host as was),
           stays as (${STAYS})
           select old.id, old.owner, old.format, taken.fence, taken.seq
           from old left join taken on taken.key = old.key`,
          [...TAKER, wanted.map(({ key }) => key), wanted.flatMap(({ lost }) => lost)],
        )
        const byId = new Map(rows.map((row) => [String(row["id"]), row]))
        return wanted.map(({ key }) => byId.get(key))
      },
    ],
    most: MOST_AT_ONCE,
  })
  const take = (session: string, lost: readonly string[]): Promise<Row | undefined> =>
    takes.join({ key: session, lost })

  /**
   * A lease that came to rest a moment ago is still ours, because nobody takes over so soon. The first append checks this,
   * and whether others have appended meanwhile.
   */
  const takeUp = async ({ fence, since, seq }: Rest): Promise<Acquisition | undefined> => {
    const { session, number } = fence
    if (monotonic() - since < FRESH_MS)
      return { kind: "acquired", fence, abandoned: false, seq: Math.max(seq, seqOf(session)) }
    const [row] = await connection.ask(
      `select seq from ${schema}.session where id = $1 and published and fence = $2 and owner = $3`,
      [session, number, me],
    )
    if (row === undefined) return undefined
    return { kind: "acquired", fence, abandoned: false, seq: Number(row["seq"]) }
  }

  const giveBack = async (fences: readonly Fence[]): Promise<void> => {
    if (fences.length === 0) return
    await connection.ask(
      `with given as (select * from unnest($2::text[], $3::bigint[]) g(id, fence)),
       locked as (
         select s.key, s.fence from ${schema}.session s join given g on g.id = s.id
         where s.owner = $1 and s.fence = g.fence order by s.key for update of s)
       update ${schema}.session s set owner = null from locked l
       where s.key = l.key and s.owner = $1 and s.fence = l.fence`,
      [me, fences.map(({ session }) => session), fences.map(({ number }) => number)],
    )
  }

  const acquireFresh = async (session: string): Promise<Acquisition> => {
    let row = await take(session, [])
    const owner = row?.["owner"]
    if (row?.["fence"] === null && typeof owner === "string" && (await workers.lost([owner])).has(owner))
      row = await take(session, [owner])
    if (Number(row?.["format"] ?? 0) > format) return { kind: "newer" }
    if (row === undefined || row["fence"] === null) return { kind: "held" }
    const before = row["owner"]
    return {
      kind: "acquired",
      fence: { session, number: Number(row["fence"]) },
      // Possibly our own unknown lease, whose answer never arrived. Nothing was done under it.
      abandoned: typeof before === "string" && before !== me,
      seq: Number(row["seq"]),
    }
  }

  return {
    acquire: async (session) => {
      const rest = resting.get(session)
      if (rest === undefined && held.has(session)) return { kind: "held" }
      resting.delete(session)
      held.set(session, undefined)
      try {
        const again = rest === undefined ? undefined : await takeUp(rest)
        const acquired = again ?? (await acquireFresh(session))
        if (acquired.kind === "acquired") held.set(session, acquired.fence)
        else held.delete(session)
        return acquired
      } catch (cause) {
        held.delete(session)
        throw cause
      }
    },
    claim: async () => {
      if (room() <= 0) return []
      return claiming(() =>
        connection.ask(
          `with free as (
           select s.key, s.host from ${schema}.session s where ${unclaimed(schema, "$5::bigint")} and ${MAY}
           order by coalesce(s.parked_until, (
             select min(i.admitted) from ${schema}.input i where i.session = s.key and i.resume), 0), s.key
           limit $6 for update of s skip locked),
         taken as (
           update ${schema}.session s set ${TAKEN} from free where s.key = free.key
           returning s.key, s.id, s.fence, s.seq, free.host as was),
         stays as (${STAYS})
         select id, fence, seq from taken`,
          [...TAKER, workspaces, wall(), room()],
        ),
      )
    },
    canClaim: async () => {
      if (room() <= 0) return false
      const [row] = await connection.ask(
        `select exists (
           select 1 from ${schema}.session s
           where ${unclaimed(schema, "$3::bigint")} and s.format <= $1::int and s.workspace = any($2::text[])) as there`,
        [format, workspaces, wall()],
      )
      return row?.["there"] === true
    },
    isCurrent: async ({ session, number }) => {
      const [row] = await connection.ask(`select fence from ${schema}.session where id = $1`, [session])
      return row?.["fence"] === number
    },
    rest: (fence) => {
      resting.set(fence.session, { fence, since: monotonic(), seq: 0 })
    },
    release: async (fence) => {
      if (held.get(fence.session)?.number === fence.number) held.delete(fence.session)
      await giveBack([fence])
    },
    giveBackRested: async (ms) => {
      const now = monotonic()
      const over = [...resting.values()].filter(({ since }) => now - since >= ms).map(({ fence }) => fence)
      for (const { session, number } of over) {
        resting.delete(session)
        if (held.get(session)?.number === number) held.delete(session)
      }
      await giveBack(over)
      return resting.size === 0
    },
    giveBackStray: async () => {
      const rows = await connection.ask(
        `select id, fence from ${schema}.session where owner = $1 and published`,
        [me],
      )
      // A claim in progress may own some of these. The next round will know.
      if (claims > 0) return
      const fences = rows.map((row) => ({ session: String(row["id"]), number: Number(row["fence"]) }))
      await giveBack(fences.filter(({ session }) => !held.has(session)))
    },
    isHeld: (session) => held.get(session) !== undefined,
    ownersElsewhere: async () => {
      const rows = await connection.ask(
        `select id, owner from ${schema}.session where published and owner is not null and owner <> $1 order by key`,
        [me],
      )
      return new Map(rows.map((row) => [String(row["id"]), String(row["owner"])]))
    },
    aliveElsewhere: async (owners) => {
      const others = [...new Set(owners)].flatMap((owner) =>
        owner === undefined || owner === me ? [] : [owner],
      )
      const lost = await workers.lost(others)
      return new Set(others.filter((owner) => !lost.has(owner)))
    },
    hasRoom: (session) => held.has(session) || room() > 0,
    takeAsked: async ({ session, seq }) => {
      if (room() <= 0 || held.has(session)) return false
      const taken = await claiming(() =>
        connection.ask(
          `with free as (
           select s.key, s.host from ${schema}.session s
           where s.id = $5 and s.seq = $6 and s.owner is null and s.published and ${MAY} for update of s skip locked),
         taken as (
           update ${schema}.session s set ${TAKEN} from free where s.key = free.key
           returning s.key, s.id, s.fence, s.seq, free.host as was),
         stays as (${STAYS})
         select id, fence, seq from taken`,
          [...TAKER, workspaces, session, seq],
        ),
      )
      return taken.length > 0
    },
    stranded: async (keys) => {
      if (keys.length === 0) return new Map()
      const rows = await connection.ask(
        `select s.key, s.workspace, s.format from ${schema}.session s
         where s.key = any($1::bigint[]) and ${wanting(schema, "$2::bigint")}`,
        [keys, wall()],
      )
      if (rows.length === 0) return new Map()
      const offers = await workers.offers()
      return new Map(
        rows.flatMap((row) => {
          const wanted = { workspace: String(row["workspace"]), format: Number(row["format"]) }
          const found = findStranded(wanted, offers)
          return found === undefined ? [] : [[Number(row["key"]), found] as const]
        }),
      )
    },
    leave: async () => {
      await connection.ask(`update ${schema}.session set owner = null where owner = $1 and published`, [me])
    },
  }
}

interface Rest {
  readonly fence: Fence
  readonly since: number
  /** The session's last event when it was claimed; 0 when this node knows at least as much. */
  readonly seq: number
}

interface Take {
  /** The id of the session. */
  readonly key: string
  /** Owners from whom it may be taken. */
  readonly lost: readonly string[]
}

const MOST_AT_ONCE = 64
/** How long an answer proves ownership: no session is taken over this soon after its owner got an answer. */
export const FRESH_MS = 1_000

/** Free sessions that have work. `now`: milliseconds, as SQL. */
export const unclaimed = (schema: string, now: string): string =>
  `s.published and s.owner is null and ${wanting(schema, now)}`

/** With an input that wants to run, an answer for its waiting call, or work whose time has come. */
export const wanting = (
  schema: string,
  now: string,
): string => `(s.parked_until <= ${now} or s.parked_until is null and (
    exists (select 1 from ${schema}.input i where i.session = s.key and i.resume and i.seq > s.interrupt_seq)
    or exists (select 1 from ${schema}.request r where r.session = s.key and r.replied > s.interrupt_seq)))`

/** By the server's clock. Only for people. */
export const SERVER_TIME = "(extract(epoch from clock_timestamp()) * 1000)::bigint"
