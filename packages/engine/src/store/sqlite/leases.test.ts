import { Failure } from "@meridian/protocol"
import { expect, test } from "vitest"

import { openDatabase } from "./database.ts"
import { openLeaseTable } from "./leases.ts"

/** Two owners on one database in memory, and a clock that only the test moves. */
const openOwners = () => {
  let full = false
  const database = openDatabase({
    file: ":memory:",
    tap: (point) => {
      if (point === "commit" && full) throw new Failure("DATABASE_UNWRITABLE", { file: "here", why: "full" })
    },
  })
  const gone = new Set<number>()
  let monotonic = 0
  const start = (pid: number) =>
    openLeaseTable({
      database,
      leaseMs: 100,
      me: `own_${pid}`,
      monotonic: () => monotonic,
      processes: {
        me: { pid, started: "", boot: "" },
        isGone: (identity) => gone.has(identity.pid),
      },
    })
  return {
    first: start(1),
    second: start(2),
    end: (pid: number) => gone.add(pid),
    fill: (isFull: boolean) => {
      full = isFull
    },
    advance: (ms: number) => {
      monotonic += ms
    },
  }
}

test("a held lease is refused to others, and granted after its release", () => {
  const { first, second } = openOwners()
  const lease = first.acquire(7)
  expect(lease).toEqual({ kind: "acquired", fence: { key: 7, number: 1 }, abandoned: false, seq: 0 })
  expect(second.acquire(7)).toEqual({ kind: "held" })
  expect([first.isHeldElsewhere(7), second.isHeldElsewhere(7)]).toEqual([false, true])
  first.release({ key: 7, number: 1 })
  expect(second.acquire(7)).toEqual({
    kind: "acquired",
    fence: { key: 7, number: 2 },
    abandoned: false,
    seq: 0,
  })
})

test("the number only grows, even when the same owner takes it again", () => {
  const { first } = openOwners()
  first.acquire(7)
  first.release({ key: 7, number: 1 })
  expect(first.acquire(7)).toMatchObject({ fence: { number: 2 } })
})

test("a lease has one holder: another caller in the same process waits as well", () => {
  const { first } = openOwners()
  first.acquire(7)
  expect(first.acquire(7)).toEqual({ kind: "held" })
})

test("a dead process's lease is free at once, and known as abandoned", () => {
  const { first, second, end } = openOwners()
  first.acquire(7)
  end(1)
  expect(second.acquire(7)).toEqual({
    kind: "acquired",
    fence: { key: 7, number: 2 },
    abandoned: true,
    seq: 0,
  })
})

test("a silent process's lease is free after the lease time, counted from when it was first seen silent", () => {
  const { first, second, advance } = openOwners()
  first.acquire(7)
  advance(1_000)
  expect(second.acquire(7)).toEqual({ kind: "held" })
  advance(99)
  expect(second.acquire(7)).toEqual({ kind: "held" })
  first.beat()
  expect(second.acquire(7)).toEqual({ kind: "held" })
  advance(99)
  expect(second.acquire(7)).toEqual({ kind: "held" })
  advance(1)
  expect(second.acquire(7)).toMatchObject({ kind: "acquired", abandoned: true })
})

test("an old owner cannot release what another one now holds", () => {
  const { first, second, end } = openOwners()
  first.acquire(7)
  end(1)
  second.acquire(7)
  first.release({ key: 7, number: 1 })
  expect(first.isHeldElsewhere(7)).toBe(true)
  second.release({ key: 7, number: 2 })
  expect(second.acquire(7)).toMatchObject({ fence: { number: 3 } })
})

test("a resting lease is ours again under the same number, and refused to others until it is released", () => {
  const { first, second } = openOwners()
  const lease = first.acquire(7)
  first.rest({ key: 7, number: 1 })
  expect(second.acquire(7)).toEqual({ kind: "held" })
  expect(first.acquire(7)).toEqual(lease)
  expect([first.giveBack(), second.acquire(7)]).toEqual([true, { kind: "held" }])
  first.rest({ key: 7, number: 1 })
  expect(first.giveBack()).toBe(true)
  expect(second.acquire(7)).toMatchObject({ fence: { number: 2 }, abandoned: false })
})

test("a lease that was taken over while it rested is acquired anew", () => {
  const { first, second, advance } = openOwners()
  first.acquire(7)
  first.rest({ key: 7, number: 1 })
  second.acquire(7)
  advance(100)
  expect(second.acquire(7)).toMatchObject({ fence: { number: 2 } })
  expect(first.acquire(7)).toEqual({ kind: "held" })
  second.release({ key: 7, number: 2 })
  expect(first.acquire(7)).toMatchObject({ fence: { number: 3 } })
})

test("a session counts as at work until its lease rests, unless the lease was lost", () => {
  const { first, second, end } = openOwners()
  const counts: number[] = []
  const note = () => counts.push(first.atWork())
  first.acquire(7)
  note()
  first.rest({ key: 7, number: 1 })
  note()
  first.acquire(7)
  note()
  first.rest({ key: 7, number: 1 })
  end(1)
  second.acquire(7)
  expect(first.acquire(7)).toEqual({ kind: "held" })
  note()
  expect(counts).toEqual([1, 0, 1, 0])
})

test("a lease that could not be released is released once the disk has room again", () => {
  const { first, second, fill } = openOwners()
  first.acquire(7)
  fill(true)
  expect([first.release({ key: 7, number: 1 }), first.giveBack()]).toEqual([false, false])
  expect(second.isHeldElsewhere(7)).toBe(true)
  fill(false)
  expect(first.giveBack()).toBe(true)
  expect(second.acquire(7)).toMatchObject({ kind: "acquired", fence: { number: 2 } })
})

test("closing releases everything and forgets the owner", () => {
  const { first, second } = openOwners()
  first.acquire(7)
  first.acquire(8)
  first.close()
  expect([second.acquire(7), second.acquire(8)]).toMatchObject([{ abandoned: false }, { abandoned: false }])
  expect(second.sweep()).toBe(false)
})
