import { Failure } from "@meridian/protocol"
import { expect, test } from "vitest"

import type { World } from "../port/world.ts"
import { openDatabase } from "./database.ts"
import { createLeases } from "./leases.ts"

/** Two owners on one database in memory, and a clock that only moves when told to. */
const openOwners = () => {
  let full = false
  const database = openDatabase(":memory:", (point) => {
    if (point === "commit" && full) throw new Failure("DATABASE_UNWRITABLE", { file: "here", why: "full" })
  })
  const gone = new Set<number>()
  let monotonic = 0
  let names = 0
  const start = (pid: number) => {
    const ticks: (() => void)[] = []
    const world: World = {
      now: () => 0,
      monotonic: () => monotonic,
      chance: () => 0,
      id: (prefix) => `${prefix}${(names += 1)}`,
      every: (_ms, tick) => {
        ticks.push(tick)
        return () => undefined
      },
      identity: () => ({ pid, started: "", boot: "" }),
      isGone: (identity) => gone.has(identity.pid),
    }
    return {
      leases: createLeases({ database, world, leaseMs: 100 }),
      beat: () => ticks.forEach((tick) => tick()),
    }
  }
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

test("a held lease is refused to others, and given when it was released", () => {
  const { first, second } = openOwners()
  const lease = first.leases.acquire(7)
  expect(lease).toEqual({ kind: "acquired", fence: { key: 7, number: 1 }, abandoned: false, rested: false })
  expect(second.leases.acquire(7)).toEqual({ kind: "held" })
  expect([first.leases.isHeldElsewhere(7), second.leases.isHeldElsewhere(7)]).toEqual([false, true])
  first.leases.release({ key: 7, number: 1 })
  expect(second.leases.acquire(7)).toEqual({
    kind: "acquired",
    fence: { key: 7, number: 2 },
    abandoned: false,
    rested: false,
  })
})

test("the number only grows, also when the same owner takes it again", () => {
  const { first } = openOwners()
  first.leases.acquire(7)
  expect(first.leases.acquire(7)).toMatchObject({ fence: { number: 2 } })
})

test("what a dead process held is free at once, and known as abandoned", () => {
  const { first, second, end } = openOwners()
  first.leases.acquire(7)
  end(1)
  expect(second.leases.acquire(7)).toEqual({
    kind: "acquired",
    fence: { key: 7, number: 2 },
    abandoned: true,
    rested: false,
  })
})

test("what a silent process held is free after the lease time, counted from when it was first seen silent", () => {
  const { first, second, advance } = openOwners()
  first.leases.acquire(7)
  advance(1_000)
  expect(second.leases.acquire(7)).toEqual({ kind: "held" })
  advance(99)
  expect(second.leases.acquire(7)).toEqual({ kind: "held" })
  first.beat()
  expect(second.leases.acquire(7)).toEqual({ kind: "held" })
  advance(99)
  expect(second.leases.acquire(7)).toEqual({ kind: "held" })
  advance(1)
  expect(second.leases.acquire(7)).toMatchObject({ kind: "acquired", abandoned: true })
})

test("an old owner cannot release what another one holds by now", () => {
  const { first, second, end } = openOwners()
  first.leases.acquire(7)
  end(1)
  second.leases.acquire(7)
  first.leases.release({ key: 7, number: 1 })
  expect(second.leases.acquire(7)).toMatchObject({ fence: { number: 3 } })
})

test("a resting lease is ours again under the same number, and refused to others until it is released a moment later", () => {
  const { first, second } = openOwners()
  const lease = first.leases.acquire(7)
  first.leases.rest({ key: 7, number: 1 })
  expect(second.leases.acquire(7)).toEqual({ kind: "held" })
  expect(first.leases.acquire(7)).toEqual({ ...lease, rested: true })
  first.beat()
  expect(second.leases.acquire(7)).toEqual({ kind: "held" })
  first.leases.rest({ key: 7, number: 1 })
  first.beat()
  expect(second.leases.acquire(7)).toMatchObject({ fence: { number: 2 }, abandoned: false })
})

test("a lease that was taken over while it rested is acquired anew", () => {
  const { first, second, advance } = openOwners()
  first.leases.acquire(7)
  first.leases.rest({ key: 7, number: 1 })
  second.leases.acquire(7)
  advance(100)
  expect(second.leases.acquire(7)).toMatchObject({ fence: { number: 2 } })
  expect(first.leases.acquire(7)).toEqual({ kind: "held" })
  second.leases.release({ key: 7, number: 2 })
  expect(first.leases.acquire(7)).toMatchObject({ fence: { number: 3 } })
})

test("a session counts as at work until its lease rests, and not when it was lost meanwhile", () => {
  const { first, second, end } = openOwners()
  const counts: number[] = []
  const note = () => counts.push(first.leases.atWork())
  first.leases.acquire(7)
  note()
  first.leases.rest({ key: 7, number: 1 })
  note()
  first.leases.acquire(7)
  note()
  first.leases.rest({ key: 7, number: 1 })
  end(1)
  second.leases.acquire(7)
  expect(first.leases.acquire(7)).toEqual({ kind: "held" })
  note()
  expect(counts).toEqual([1, 0, 1, 0])
})

test("a lease that could not be given back is given back when the disk has room again", () => {
  const { first, second, fill } = openOwners()
  first.leases.acquire(7)
  fill(true)
  expect(() => first.leases.release({ key: 7, number: 1 })).toThrow("full")
  first.beat()
  expect(second.leases.isHeldElsewhere(7)).toBe(true)
  fill(false)
  first.beat()
  expect(second.leases.acquire(7)).toMatchObject({ kind: "acquired", fence: { number: 2 } })
})
