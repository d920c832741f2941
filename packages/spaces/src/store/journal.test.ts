import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import * as fc from "fast-check"
import { afterEach, beforeEach, expect, test } from "vitest"

import { verifies } from "../../../../test/verifies.ts"
import { LIMIT } from "../domain/limit.ts"
import { appendEvents, readEvents, scanNewestEvents, type Damage } from "./journal.ts"

let directory: string
let file: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "journal-"))
  file = join(directory, "log.jsonl")
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const read = (): { readonly events: readonly unknown[]; readonly damage: readonly number[] } => {
  const damage: Damage[] = []
  const events = readEvents(file, (found) => damage.push(found))
  return { events, damage: damage.map((found) => found.line) }
}

const readBackwards = (): { readonly events: readonly unknown[]; readonly damage: readonly number[] } => {
  const damage: Damage[] = []
  const events: unknown[] = []
  scanNewestEvents(file, {
    each: (found) => {
      events.unshift(found)
      return false
    },
    onDamage: (found) => damage.push(found),
  })
  return { events, damage: damage.map((found) => found.line) }
}

const event = fc.record({
  v: fc.constant(1),
  id: fc.string(),
  text: fc.string({ unit: "binary", maxLength: 200 }),
})

test("an empty or missing log has no events", () => {
  expect(read()).toEqual({ events: [], damage: [] })
  expect(readBackwards()).toEqual({ events: [], damage: [] })
})

test("appended events are read back, forwards and backwards, whatever the text", () => {
  fc.assert(
    fc.property(fc.array(fc.array(event, { maxLength: 4 }), { maxLength: 6 }), (batches) => {
      rmSync(file, { force: true })
      for (const batch of batches) appendEvents(file, batch)
      const expected = { events: batches.flat(), damage: [] }
      expect(read()).toEqual(expected)
      expect(readBackwards()).toEqual(expected)
    }),
    { numRuns: 60 },
  )
})

verifies("session.torn-tail", () => {
  fc.assert(
    fc.property(fc.array(event, { minLength: 1, maxLength: 5 }), fc.nat(), event, (events, cut, next) => {
      rmSync(file, { force: true })
      appendEvents(file, events)
      const whole = readFileSync(file)
      const kept = whole.subarray(0, cut % whole.length)
      writeFileSync(file, kept)
      const survivors = read()
      expect(survivors.damage).toEqual([])
      expect(readBackwards()).toEqual(survivors)
      appendEvents(file, [next])
      expect(read()).toEqual({ events: [...survivors.events, next], damage: [] })
    }),
    { numRuns: 120 },
  )
})

verifies("session.mid-file-damage", () => {
  appendEvents(file, [{ v: 1, id: "a" }])
  appendFileSync(file, '{"v":1,"id":"to\n\n[1]\n')
  appendEvents(file, [{ v: 1, id: "b" }])
  const expected = {
    events: [
      { v: 1, id: "a" },
      { v: 1, id: "b" },
    ],
    damage: [2, 4],
  }
  expect(read()).toEqual(expected)
  expect(readBackwards()).toEqual(expected)
})

test("a line at the bound is read, one byte more is damage, and both directions agree", () => {
  const line = (bytes: number): string => `{"text":"${"x".repeat(bytes - 11)}"}`
  writeFileSync(file, `{"id":"a"}\n${line(LIMIT.lineBytes)}\n${line(LIMIT.lineBytes + 1)}\n{"id":"b"}\n`)
  for (const { events, damage } of [read(), readBackwards()]) {
    expect(events.length).toBe(3)
    expect(damage).toEqual([3])
  }
})

test("an event at the bound is written, a larger one is refused and leaves the log as it was", () => {
  const frame = '{"text":""}\n'.length
  appendEvents(file, [{ text: "x".repeat(LIMIT.eventBytes - frame) }])
  const before = readFileSync(file)
  expect(() => appendEvents(file, [{ text: "x".repeat(LIMIT.eventBytes - frame + 1) }])).toThrow(
    "larger than",
  )
  expect(readFileSync(file)).toEqual(before)
})

test("damage within the bound from the end is always reported, and damage before it only if that part is read", () => {
  const tail = `{"id":"b","text":"${"x".repeat(1000)}"}\n`
  const known = `{"id":"c"}\n`
  const damage = (padding: number): readonly number[] => {
    writeFileSync(file, `{"id":"a"}\nGARBAGE\n${" ".repeat(padding)}\n${tail}${known}`)
    const found: number[] = []
    scanNewestEvents(file, {
      concerns: (line) => line.includes('"c"'),
      each: () => true,
      onDamage: ({ line }) => found.push(line),
    })
    return found
  }
  const rest = "GARBAGE\n\n".length + tail.length + known.length
  expect(damage(LIMIT.damageBytes - rest)).toEqual([2])
  expect(damage(LIMIT.damageBytes - rest + 1)).toEqual([])
})

test("reading back stops as soon as enough is known", () => {
  appendEvents(
    file,
    Array.from({ length: 5000 }, (_, index) => ({ id: `r${index}`, text: "x".repeat(500) })),
  )
  const ids: unknown[] = []
  scanNewestEvents(file, { each: (found) => ids.push(found["id"]) === 3, onDamage: () => undefined })
  expect(ids).toEqual(["r4999", "r4998", "r4997"])
})
