/**
 * Who may write a session's progress. A drain takes a numbered lease; every append of that drain carries the number and
 * is refused inside its own transaction when a newer one exists. So a frozen process that wakes up late cannot write,
 * whatever it believes.
 *
 * A lease is taken from another owner only when that owner is certainly gone (its process does not exist any more) or has
 * been silent for the whole lease time as measured by our own monotonic clock: wall clocks may jump, so none is compared.
 */
import { Failure } from "@meridian/protocol"

import type { ProcessIdentity, World } from "../port/world.ts"
import type { Database } from "./database.ts"
import type { Fence } from "./log.ts"

export type Acquisition =
  /**
   * `abandoned`: the previous owner never gave it back, so its work must be settled first. `rested`: nobody else has had
   * it since we did.
   */
  | {
      readonly kind: "acquired"
      readonly fence: Fence
      readonly abandoned: boolean
      readonly rested: boolean
    }
  | { readonly kind: "held" }

export interface Leases {
  readonly acquire: (key: number) => Acquisition
  readonly release: (fence: Fence) => void
  /** For work that ended well: ours again without a write if more comes soon, otherwise released within a moment. */
  readonly rest: (fence: Fence) => void
  /** How many sessions are at work here; those whose lease rests are not. */
  readonly atWork: () => number
  /** Nobody has taken it since. */
  readonly isCurrent: (fence: Fence) => boolean
  /** Somebody else holds it and is, as far as we know, alive. */
  readonly isHeldElsewhere: (key: number) => boolean
  /** Sessions whose owner is gone or silent for too long. */
  readonly abandoned: () => readonly string[]
  /** Whether another owner was lost since; forgets those that hold nothing. */
  readonly sweep: () => boolean
  readonly close: () => void
}

/** A conversation goes on at once or after a pause; another process should not have to wait for the pause to end. */
const REST_MS = 50

interface OwnerRow {
  readonly id: string
  readonly identity: ProcessIdentity
  readonly beat: number
}

export const createLeases = (options: {
  readonly database: Database
  readonly world: World
  readonly leaseMs: number
}): Leases => {
  const { database, world, leaseMs } = options
  const { raw } = database
  const me = world.id("own_")
  const identity = world.identity()
  const held = new Set<number>()
  const resting = new Map<number, Fence>()
  /** Those that could not be given back when they should have been: without them others would wait for ever. */
  const overdue = new Map<number, Fence>()
  let stopResting: (() => void) | undefined
  const seen = new Map<string, { beat: number; since: number }>()

  const insertOwner = raw.prepare("insert into owner (id, pid, started, boot, beat) values (?, ?, ?, ?, 0)")
  const deleteOwner = raw.prepare("delete from owner where id = ?")
  const selectOwner = raw.prepare("select * from owner where id = ?")
  const selectOwners = raw.prepare("select * from owner where id <> ?")
  const beatOwner = raw.prepare("update owner set beat = beat + 1 where id = ?")
  const selectLease = raw.prepare("select fence, owner from lease where session = ?")
  const upsertLease = raw.prepare(
    "insert into lease (session, fence, owner) values (?, ?, ?) on conflict (session) do update set fence = excluded.fence, owner = excluded.owner",
  )
  const releaseLease = raw.prepare(
    "update lease set owner = null where session = ? and fence = ? and owner = ?",
  )
  const releaseAll = raw.prepare("update lease set owner = null where owner = ?")
  const selectHeldBy = raw.prepare("select session from lease where owner = ? limit 1")
  const selectHeld = raw.prepare(
    "select session.id, lease.owner from lease join session on session.key = lease.session where lease.owner is not null and lease.owner <> ?",
  )

  const ownerOf = (id: string): OwnerRow | undefined => {
    const row = selectOwner.get(id)
    return row === undefined ? undefined : ownerRow(row)
  }

  const isLost = (id: string): boolean => {
    const owner = ownerOf(id)
    if (owner === undefined || world.isGone(owner.identity)) return true
    const last = seen.get(id)
    if (last === undefined || last.beat !== owner.beat) {
      seen.set(id, { beat: owner.beat, since: world.monotonic() })
      return false
    }
    return world.monotonic() - last.since >= leaseMs
  }

  const acquire: Leases["acquire"] = (key) => {
    const rested = resting.get(key)
    resting.delete(key)
    overdue.delete(key)
    if (rested !== undefined) {
      if (isCurrent(rested)) return { kind: "acquired", fence: rested, abandoned: false, rested: true }
      held.delete(key)
    }
    // Who waits for another asks again and again: that must not cost the others the write lock.
    if (isHeldElsewhere(key)) return { kind: "held" }
    return database.transact("NORMAL", () => {
      const row = selectLease.get(key)
      const owner = typeof row?.["owner"] === "string" ? row["owner"] : undefined
      if (owner !== undefined && owner !== me && !isLost(owner)) return { kind: "held" }
      const number = Number(row?.["fence"] ?? 0) + 1
      upsertLease.run(key, number, me)
      // A sign of life with every lease: others may have last looked at us long ago, when we held nothing.
      beatOwner.run(me)
      held.add(key)
      const abandoned = owner !== undefined && owner !== me
      return { kind: "acquired", fence: { key, number }, abandoned, rested: false }
    })
  }

  const release: Leases["release"] = (fence) => {
    held.delete(fence.key)
    try {
      database.transact("NORMAL", () => releaseLease.run(fence.key, fence.number, me))
    } catch (cause) {
      overdue.set(fence.key, fence)
      releaseSoon()
      throw cause
    }
  }

  const rest: Leases["rest"] = (fence) => {
    resting.set(fence.key, fence)
    releaseSoon()
  }

  const releaseSoon = (): void => {
    stopResting ??= world.every(REST_MS, releaseResting)
  }

  const releaseResting = (): void => {
    const released = whenPossible(() => {
      for (const { key, number } of [...resting.values(), ...overdue.values()])
        releaseLease.run(key, number, me)
    })
    if (!released) return
    for (const key of resting.keys()) held.delete(key)
    resting.clear()
    overdue.clear()
    stopResting?.()
    stopResting = undefined
  }

  const isCurrent: Leases["isCurrent"] = ({ key, number }) =>
    Number(selectLease.get(key)?.["fence"]) === number

  const isHeldElsewhere: Leases["isHeldElsewhere"] = (key) => {
    const owner = selectLease.get(key)?.["owner"]
    return typeof owner === "string" && owner !== me && !isLost(owner)
  }

  const abandoned: Leases["abandoned"] = () =>
    selectHeld.all(me).flatMap((row) => (isLost(String(row["owner"])) ? [String(row["id"])] : []))

  const sweep: Leases["sweep"] = () => {
    let lost = false
    for (const row of selectOwners.all(me)) {
      const owner = ownerRow(row)
      const holds = selectHeldBy.get(owner.id) !== undefined
      if (world.isGone(owner.identity)) {
        lost = true
        // What it held is taken over first; a row that holds nothing only grows the table.
        if (!holds) database.transact("NORMAL", () => deleteOwner.run(owner.id))
      } else if (holds && isLost(owner.id)) lost = true
    }
    return lost
  }

  /** Signs of life are hints, the fence decides who may write; and neither a timer nor a closing engine has anyone to tell. */
  const whenPossible = (body: () => void): boolean => {
    try {
      database.transact("NORMAL", body)
      return true
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause
      return false
    }
  }

  database.transact("NORMAL", () => insertOwner.run(me, identity.pid, identity.started, identity.boot))
  const stopBeating = world.every(Math.max(20, Math.floor(leaseMs / 4)), () => {
    if (held.size > 0) whenPossible(() => beatOwner.run(me))
  })

  const close: Leases["close"] = () => {
    stopBeating()
    stopResting?.()
    whenPossible(() => {
      releaseAll.run(me)
      deleteOwner.run(me)
    })
  }

  return {
    acquire,
    release,
    rest,
    atWork: () => held.size - resting.size,
    isCurrent,
    isHeldElsewhere,
    abandoned,
    sweep,
    close,
  }
}

const ownerRow = (row: Readonly<Record<string, unknown>>): OwnerRow => ({
  id: String(row["id"]),
  beat: Number(row["beat"]),
  identity: { pid: Number(row["pid"]), started: String(row["started"]), boot: String(row["boot"]) },
})
