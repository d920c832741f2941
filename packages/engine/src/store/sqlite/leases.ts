/**
 * Who may write a session's progress. A drain takes a numbered lease. Each of its appends carries the number and is refused
 * inside its own transaction once a newer one exists. So a frozen process that wakes up late cannot write, whatever it
 * believes.
 *
 * A lease is taken from another owner only when that owner is certainly gone (its process no longer exists), or has been
 * silent for the whole lease time on our own monotonic clock. Wall clocks may jump, so none is compared.
 */
import { Failure } from "@meridian/protocol"

import type { Database } from "./database.ts"
import type { Processes, ProcessIdentity } from "./processes.ts"

/** Sessions are known by key here, because a draft has a key before it is a session. */
export interface KeyFence {
  readonly key: number
  readonly number: number
}

export type KeyAcquisition =
  | {
      readonly kind: "acquired"
      readonly fence: KeyFence
      readonly abandoned: boolean
      /** The last event of the session; 0 when there is none. */
      readonly seq: number
    }
  | { readonly kind: "held" }

export interface LeaseTable {
  readonly acquire: (key: number) => KeyAcquisition
  /** False when that failed now. `giveBack` will do it. */
  readonly release: (fence: KeyFence) => boolean
  /** The lease becomes ours again without a write if more work arrives before `giveBack`. */
  readonly rest: (fence: KeyFence) => void
  /** Releases resting leases and those that could not be released before. False: not possible now. */
  readonly giveBack: () => boolean
  /** No other holder has taken it since. */
  readonly isCurrent: (fence: KeyFence) => boolean
  /** How many sessions are at work here. Sessions with a resting lease do not count. */
  readonly atWork: () => number
  readonly isHeldElsewhere: (key: number) => boolean
  /** Sessions whose owner is lost. */
  readonly abandoned: () => readonly string[]
  /** Whether an owner that holds a lease was lost. Forgets owners that hold none. */
  readonly sweep: () => boolean
  /** A sign of life, if any lease is held. */
  readonly beat: () => void
  readonly close: () => void
}

interface Owner {
  readonly id: string
  readonly identity: ProcessIdentity
  readonly beat: number
}

export const openLeaseTable = (options: {
  readonly database: Database
  readonly processes: Processes
  /** Our owner id, unique among owners. */
  readonly me: string
  readonly leaseMs: number
  /** Milliseconds that never go back. */
  readonly monotonic: () => number
}): LeaseTable => {
  const { database, processes, me, leaseMs, monotonic } = options
  const { raw } = database
  const held = new Set<number>()
  const resting = new Map<number, KeyFence>()
  /** Leases whose release failed. Without this list other processes would wait for ever. */
  const overdue = new Map<number, KeyFence>()
  const seen = new Map<string, { readonly beat: number; readonly since: number }>()

  const insertOwner = raw.prepare("insert into owner (id, pid, started, boot, beat) values (?, ?, ?, ?, 0)")
  const deleteOwner = raw.prepare("delete from owner where id = ?")
  const selectOwner = raw.prepare("select * from owner where id = ?")
  const selectOwners = raw.prepare("select * from owner where id <> ?")
  const beatOwner = raw.prepare("update owner set beat = beat + 1 where id = ?")
  const selectLease = raw.prepare("select fence, owner from lease where session = ?")
  const selectStanding = raw.prepare(
    "select fence, (select seq from session where key = lease.session) as seq from lease where session = ?",
  )
  const selectSeq = raw.prepare("select seq from session where key = ?")
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

  const isLost = (id: string): boolean => {
    const row = selectOwner.get(id)
    if (row === undefined) return true
    const owner = ownerOf(row)
    if (processes.isGone(owner.identity)) return true
    const last = seen.get(id)
    if (last === undefined || last.beat !== owner.beat) {
      seen.set(id, { beat: owner.beat, since: monotonic() })
      return false
    }
    return monotonic() - last.since >= leaseMs
  }

  const isCurrent: LeaseTable["isCurrent"] = ({ key, number }) => selectLease.get(key)?.["fence"] === number

  const isHeldElsewhere: LeaseTable["isHeldElsewhere"] = (key) => {
    const owner = selectLease.get(key)?.["owner"]
    return typeof owner === "string" && owner !== me && !isLost(owner)
  }

  const acquire: LeaseTable["acquire"] = (key) => {
    const rested = resting.get(key)
    resting.delete(key)
    overdue.delete(key)
    if (rested !== undefined) {
      const standing = selectStanding.get(key)
      if (standing?.["fence"] === rested.number)
        return { kind: "acquired", fence: rested, abandoned: false, seq: Number(standing["seq"]) }
      held.delete(key)
    }
    // A waiting process asks again and again. That must not take the write lock from the others.
    if (held.has(key) || isHeldElsewhere(key)) return { kind: "held" }
    return database.transact((): KeyAcquisition => {
      const row = selectLease.get(key)
      const owner = typeof row?.["owner"] === "string" ? row["owner"] : undefined
      if (owner !== undefined && owner !== me && !isLost(owner)) return { kind: "held" }
      const number = Number(row?.["fence"] ?? 0) + 1
      upsertLease.run(key, number, me)
      // A sign of life with every lease: others may have last seen us long ago, when we held none.
      beatOwner.run(me)
      held.add(key)
      return {
        kind: "acquired",
        fence: { key, number },
        abandoned: owner !== undefined && owner !== me,
        seq: Number(selectSeq.get(key)?.["seq"] ?? 0),
      }
    })
  }

  const release: LeaseTable["release"] = (fence) => {
    held.delete(fence.key)
    const released = whenPossible(() => releaseLease.run(fence.key, fence.number, me))
    if (!released) overdue.set(fence.key, fence)
    return released
  }

  const giveBack: LeaseTable["giveBack"] = () => {
    const released = whenPossible(() => {
      for (const { key, number } of [...resting.values(), ...overdue.values()])
        releaseLease.run(key, number, me)
    })
    if (!released) return false
    for (const key of resting.keys()) held.delete(key)
    resting.clear()
    overdue.clear()
    return true
  }

  const sweep: LeaseTable["sweep"] = () => {
    let lost = false
    for (const row of selectOwners.all(me)) {
      const owner = ownerOf(row)
      const holds = selectHeldBy.get(owner.id) !== undefined
      if (processes.isGone(owner.identity)) {
        lost = true
        // Its leases are taken over first. A row without leases only grows the table.
        if (!holds) database.transact(() => deleteOwner.run(owner.id))
      } else if (holds && isLost(owner.id)) lost = true
    }
    return lost
  }

  /**
   * Signs of life are hints, and the fence decides who may write. Neither a timer nor a closing engine could report a
   * failure.
   */
  const whenPossible = (body: () => void): boolean => {
    try {
      database.transact(body)
      return true
    } catch (cause) {
      if (cause instanceof Failure || isSqliteError(cause)) return false
      throw cause
    }
  }

  database.transact(() => insertOwner.run(me, processes.me.pid, processes.me.started, processes.me.boot))

  return {
    acquire,
    release,
    rest: (fence) => {
      resting.set(fence.key, fence)
    },
    giveBack,
    isCurrent,
    atWork: () => held.size - resting.size,
    isHeldElsewhere,
    abandoned: () =>
      selectHeld.all(me).flatMap((row) => (isLost(String(row["owner"])) ? [String(row["id"])] : [])),
    sweep,
    beat: () => {
      if (held.size > 0) whenPossible(() => beatOwner.run(me))
    },
    close: () => {
      whenPossible(() => {
        releaseAll.run(me)
        deleteOwner.run(me)
      })
    },
  }
}

const isSqliteError = (cause: unknown): boolean => cause instanceof Error && "errcode" in cause

const ownerOf = (row: Readonly<Record<string, unknown>>): Owner => ({
  id: String(row["id"]),
  beat: Number(row["beat"]),
  identity: { pid: Number(row["pid"]), started: String(row["started"]), boot: String(row["boot"]) },
})
