/**
 * Who may write a session's progress: owner and number are columns of its row, so taking it is one statement and the append
 * checks the number in its own. What is written in our name and is not used here is given back again and again until it is.
 */
import type { Acquisition, Fence } from "../../port/store.ts"
import type { Connection } from "./connection.ts"
import type { Workers } from "./workers.ts"

export interface LeaseBook {
  readonly acquire: (session: string) => Promise<Acquisition>
  /**
   * Takes sessions that nobody works on and whose inputs want to be run, the oldest first. They rest here, so that whoever
   * acquires one has it at once; those nobody wants are given back.
   */
  readonly claim: () => Promise<readonly string[]>
  /** Whether there is one to claim, and room for it. */
  readonly canClaim: () => Promise<boolean>
  readonly isCurrent: (fence: Fence) => Promise<boolean>
  readonly rest: (fence: Fence) => void
  /** When it fails, `giveBack` does it. */
  readonly release: (fence: Fence) => Promise<void>
  /** Gives back what rests, and whatever else is written in our name and not at work here. */
  readonly giveBack: () => Promise<void>
  readonly ownersElsewhere: () => Promise<ReadonlyMap<string, string>>
  /** Which of these owners are other nodes, and not lost. */
  readonly aliveElsewhere: (
    owners: readonly (string | undefined)[],
  ) => Promise<ReadonlySet<string | undefined>>
  readonly leave: () => Promise<void>
}

export const openLeaseBook = (options: {
  readonly connection: Connection
  readonly schema: string
  readonly workers: Workers
  /** How many sessions this node works on at once. */
  readonly places: number
}): LeaseBook => {
  const { connection, schema, workers, places } = options
  const { me } = workers
  /** At work here, resting, or just asked for: these are not given back behind our back. */
  const held = new Map<string, Fence | undefined>()
  const resting = new Map<string, Fence>()

  const UNCLAIMED = unclaimed(schema)
  const room = (): number => places - held.size

  const take = async (session: string, lost: readonly string[]) => {
    const [row] = await connection.ask(
      `with old as (
         select key, owner from ${schema}.session where id = $1 and published for update),
       alive as (
         update ${schema}.worker set beat = beat + 1 where id = $2),
       taken as (
         update ${schema}.session s set owner = $2, fence = s.fence + 1 from old
         where s.key = old.key and (old.owner is null or old.owner = $2 or old.owner = any($3::text[]))
         returning s.key, s.fence, s.seq)
       select old.owner, taken.fence, taken.seq from old left join taken on taken.key = old.key`,
      [session, me, lost],
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
    if (row === undefined || row["fence"] === null) return { kind: "held" }
    const before = row["owner"]
    return {
      kind: "acquired",
      fence: { session, number: Number(row["fence"]) },
      // Ours without our knowledge: a lease whose answer never came. Nothing was done under it.
      abandoned: typeof before === "string" && before !== me,
      seq: Number(row["seq"]),
    }
  }

  return {
    acquire: async (session) => {
      const rested = resting.get(session)
      if (rested === undefined && held.has(session)) return { kind: "held" }
      resting.delete(session)
      held.set(session, undefined)
      try {
        const again = rested === undefined ? undefined : await takeUp(session, rested)
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
           select s.key from ${schema}.session s where ${UNCLAIMED} order by s.key limit $2 for update of s skip locked)
         update ${schema}.session s set owner = $1, fence = s.fence + 1 from free where s.key = free.key
         returning s.id, s.fence`,
        [me, room()],
      )
      return rows.map((row) => {
        const fence = { session: String(row["id"]), number: Number(row["fence"]) }
        held.set(fence.session, fence)
        resting.set(fence.session, fence)
        return fence.session
      })
    },
    canClaim: async () => {
      if (room() <= 0) return false
      const [row] = await connection.ask(
        `select exists (select 1 from ${schema}.session s where ${UNCLAIMED}) as there`,
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
    leave: async () => {
      await connection.ask(`update ${schema}.session set owner = null where owner = $1 and published`, [me])
    },
  }
}

/** Sessions that nobody works on, with an input that wants to be run or an answer its call waits for; none that is parked. */
export const unclaimed = (
  schema: string,
): string => `s.published and s.owner is null and s.parked_until is null and (
    exists (select 1 from ${schema}.input i where i.session = s.key and i.resume and i.seq > s.interrupt_seq)
    or exists (select 1 from ${schema}.request r where r.session = s.key and r.replied > s.interrupt_seq))`
