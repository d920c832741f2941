import * as fc from "fast-check"
import { expect, test } from "vitest"

import { createRowHeights } from "./row-heights.ts"
import { isAtEnd, MOST_ROWS, visibleRows } from "./visible-rows.ts"

/** The same, the slow and plain way. */
const plain = (guess: number, count: number, measured: readonly (readonly [number, number])[]) => {
  const heights = Array.from({ length: count }, () => guess)
  for (const [index, height] of measured) if (index < count) heights[index] = height
  return heights
}

test("places of rows are the sums of the heights before them, whatever was measured in whatever order", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 60 }),
      fc.array(fc.tuple(fc.nat(70), fc.nat(300)), { maxLength: 80 }),
      (count, measured) => {
        const heights = createRowHeights(10)
        // In two steps, because a session grows.
        heights.resize(Math.ceil(count / 2))
        heights.resize(count)
        for (const [index, height] of measured) heights.measure(index, height)
        const expected = plain(10, count, measured)
        let top = 0
        for (const [index, height] of expected.entries()) {
          expect(heights.offsetOf(index)).toBe(top)
          // A row without height occupies no position. The position belongs to the next row with a height.
          const found = height === 0 ? index : heights.indexAt(top)
          const foundAtEnd = height === 0 ? index : heights.indexAt(top + height - 1)
          expect([found, foundAtEnd]).toEqual([index, index])
          top += height
        }
        expect(heights.total()).toBe(top)
        expect(heights.indexAt(top + 1_000)).toBe(count - 1)
      },
    ),
  )
})

test("measuring says by how much a row changed", () => {
  const heights = createRowHeights(50)
  heights.resize(3)
  expect([heights.measure(1, 80), heights.measure(1, 80), heights.measure(9, 10)]).toEqual([30, 0, 0])
})

test("fewer rows start over", () => {
  const heights = createRowHeights(50)
  heights.resize(3)
  heights.measure(0, 10)
  heights.resize(2)
  expect([heights.count(), heights.total()]).toEqual([2, 100])
})

test("of ten thousand rows only those near the window are drawn", () => {
  const heights = createRowHeights(50)
  heights.resize(10_000)
  expect(visibleRows(heights, { scrollTop: 250_000, height: 500 })).toEqual({ from: 4_992, to: 5_019 })
  expect(visibleRows(heights, { scrollTop: 0, height: 500 })).toEqual({ from: 0, to: 19 })
  expect(visibleRows(heights, { scrollTop: 499_500, height: 500 })).toEqual({ from: 9_982, to: 10_000 })
})

test("no window is so tall that more rows than the bound are drawn", () => {
  const heights = createRowHeights(1)
  heights.resize(10_000)
  const { from, to } = visibleRows(heights, { scrollTop: 100, height: 9_000 })
  expect(to - from).toBe(MOST_ROWS)
})

test("nothing is drawn of nothing", () => {
  expect(visibleRows(createRowHeights(50), { scrollTop: 0, height: 500 })).toEqual({ from: 0, to: 0 })
})

test("a reader close to the end stays there", () => {
  expect(isAtEnd({ scrollTop: 452, height: 500 }, 1_000)).toBe(true)
  expect(isAtEnd({ scrollTop: 451, height: 500 }, 1_000)).toBe(false)
})
