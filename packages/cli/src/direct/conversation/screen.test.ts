import * as fc from "fast-check"
import { expect, test } from "vitest"

import { widthOf } from "./columns.ts"
import { heightOf, layOut, usable, type LiveParts } from "./screen.ts"

const PARTS: LiveParts = {
  going: [],
  question: [],
  status: undefined,
  mark: "> ",
  editor: { text: "", cursor: 0 },
}

test("current work, a question, the status and the line come in this order, with the cursor in the line", () => {
  expect(
    layOut(
      {
        ...PARTS,
        going: ["… bash"],
        question: ["Allow?"],
        status: "Working",
        editor: { text: "hello", cursor: 2 },
      },
      { columns: 80, rows: 24 },
    ),
  ).toEqual({ rows: ["… bash", "Allow?", "Working", "> hello"], cursor: { row: 3, column: 4 } })
})

test("a question that does not fit keeps its answers", () => {
  const question = ["Allow?", "one", "two", "three", "[y] once"]
  expect(layOut({ ...PARTS, question }, { columns: 80, rows: 4 }).rows).toEqual(["three", "[y] once", "> "])
})

test("a long line is broken, and the cursor is where the next character goes", () => {
  const text = "abcdefghijklmnop"
  expect(layOut({ ...PARTS, editor: { text, cursor: 10 } }, { columns: 13, rows: 24 })).toEqual({
    rows: ["> abcdefghij", "  klmnop"],
    cursor: { row: 1, column: 2 },
  })
})

test("if a line fills the screen, only the rows around the cursor are shown", () => {
  const text = Array.from({ length: 50 }, (_, index) => `line ${index}`).join("\n")
  const { rows, cursor } = layOut(
    { ...PARTS, editor: { text, cursor: text.length } },
    { columns: 80, rows: 12 },
  )
  expect(rows).toEqual(["  line 47", "  line 48", "  line 49"])
  expect(cursor).toEqual({ row: 2, column: 9 })
})

test("live rows never fill the screen, never wrap, and contain the cursor", () => {
  fc.assert(
    fc.property(
      fc.record({
        text: fc.string({ unit: "grapheme", maxLength: 300 }),
        going: fc.array(fc.constant("… a tool"), { maxLength: 40 }),
        columns: fc.integer({ min: 12, max: 100 }),
        rows: fc.integer({ min: 4, max: 40 }),
      }),
      ({ text, going, columns, rows }) => {
        const size = { columns, rows }
        const live = layOut(
          { ...PARTS, going, status: "Working", editor: { text, cursor: text.length } },
          size,
        )
        expect(live.rows.length).toBeLessThan(rows)
        expect(live.cursor.row).toBeLessThan(live.rows.length)
        for (const row of live.rows) expect(widthOf(row)).toBeLessThanOrEqual(usable(size))
        expect(live.cursor.column).toBeLessThanOrEqual(usable(size))
      },
    ),
  )
})

test("rows drawn on a wider terminal take more rows of a narrower one", () => {
  expect(heightOf(["x".repeat(70), "short"], 30)).toBe(4)
})
