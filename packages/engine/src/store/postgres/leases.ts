/**
 * Who may write a session's progress. Owner and number are columns of the session's row, so one statement takes a lease,
 * and an append checks the number in its own statement. A lease that is recorded for this node but not used here is
 * released repeatedly until that succeeds.
 */
import { findStranded, type Stranded } from "../../domain/stranded.ts"
import type { Acquisition, Asked, Fence } from "../../port/store.ts"
import type { Connection, Row } from "./connection.ts"
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
  /** If it fails, `giveBack` does it. */
  readonly release: (fence: Fence) => Promise<void>
  /** Releases resting leases, and any other lease that is recorded for this node but not in use. */
  readonly giveBack: () => Promise<void>
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
}): LeaseBook => {
  const { connection, schema, workers, wall } = options
  const { places, workspaces, format } = options.offer
  const { me } = workers
  /** Leases in use, resting, or just requested. These are not released behind our back. */
  const held = new Map<string, Fence | undefined>()
  const resting = new Map<string, Fence>()

  const room = (): number => (workers.isRetired() ? 0 : places - held.size)

  /** Columns of sessions that this statement takes: the new owner, and the format in which they may be written. */
  const TAKEN = `owner = $1, fence = s.fence + 1, host = $2,
    format = greatest(s.format, (select least($3::int, min(w.format)) from ${schema}.worker w))`
  const TAKER = [me, HOST, format] as const
  /** Records the earlier place of a session that comes to another node. */
  const STAYS = `insert into ${schema}.stay (session, fence, seq, host, time)
    select t.key, t.fence, t.seq, $2, ${SERVER_TIME} from taken t where t.was is distinct from $2`
  const MAY = `s.format <= $3::int and s.workspace = any($4::text[])`

  const restAll = (rows: readonly Row[]): readonly string[] =>
    rows.map((row) => {
      const fence = { session: String(row["id"]), number: Number(row["fence"]) }
      held.set(fence.session, fence)
      resting.set(fence.session, fence)
      return fence.session
    })

  const take = async (session: string, lost: readonly string[]) => {
    const [row] = await connection.ask(
      `with old as (
         select key, owner, host, format from ${schema}.session where id = $4 and published for update),
       alive as (
         update ${schema}.worker set beat = beat + 1 where id = $1),
       taken as (
         update ${schema}.session s set ${TAKEN} from old
         where s.key = old.key and s.format <= $3::int
           and (old.owner is null or old.owner = $1 or old.owner = any($5::text[]))
         returning s.key, s.fence, s.seq, old.host as was),
       stays as (${STAYS})
       select old.owner, old.format, taken.fence, taken.seq from old left join taken on taken.key = old.key`,
      [...TAKER, session, lost],
    )
    return row
  }

  const takeUp = async (session: string, rested: Fence): Promise<Acquisition | undefined> => {
    const [row] = await connection.ask(
      `select seq from ${schema}.session where id = $1 and published and fence = $2 and owner = $3`,
      [session, rested.number, me],
    )
    if (row === undefined) return undefined
    return { kind: "acquired", fence: rested, abandoned: false, seq: Number(row["seq"]) }
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
        const again = rest === undefined ? undefined : await takeUp(session, rest)
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
      const rows = await connection.ask(
        `with free as (
           select s.key, s.host from ${schema}.session s where ${unclaimed(schema, "$5::bigint")} and ${MAY}
           order by coalesce(s.parked_until, (
             select min(i.admitted) from ${schema}.input i where i.session = s.key and i.resume), 0), s.key
           limit $6 for update of s skip locked),
         taken as (
           update ${schema}.session s set ${TAKEN} from free where s.key = free.key
           returning s.key, s.id, s.fence, s.seq, free.host as was),
         stays as (${STAYS})
         select id, fence from taken`,
        [...TAKER, workspaces, wall(), room()],
      )
      return restAll(rows)
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
      resting.set(fence.session, fence)
    },
    release: async (fence) => {
      if (held.get(fence.session)?.number === fence.number) held.delete(fence.session)
      await connection.ask(
        `update ${schema}.session set owner = null where id = $1 and fence = $2 and owner = $3`,
        [fence.session, fence.number, me],
      )
    },
    giveBack: async () => {
      for (const [session, fence] of resting)
        if (held.get(session)?.number === fence.number) held.delete(session)
      resting.clear()
      await connection.ask(
        `update ${schema}.session set owner = null where owner = $1 and published and not (id = any($2::text[]))`,
        [me, [...held.keys()]],
      )
    },
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
      const rows = await connection.ask(
        `with free as (
           select s.key, s.host from ${schema}.session s
           where s.id = $5 and s.seq = $6 and s.owner is null and s.published and ${MAY} for update of s skip locked),
         taken as (
           update ${schema}.session s set ${TAKEN} from free where s.key = free.key
           returning s.key, s.id, s.fence, s.seq, free.host as was),
         stays as (${STAYS})
         select id, fence from taken`,
        [...TAKER, workspaces, session, seq],
      )
      return restAll(rows).length > 0
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
