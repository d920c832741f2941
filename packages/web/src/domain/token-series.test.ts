import { expect, test } from "vitest"

import { tokenSeries, type TokenPoint } from "./token-series.ts"

const turn = (number: number, tokens: number, model = "a"): TokenPoint => ({
  kind: "turn",
  turn: number,
  tokens,
  output: 1,
  model,
})
const compaction = (after: number, id: string): TokenPoint => ({
  kind: "compaction",
  turn: after,
  compactionID: id,
  before: 900,
  after: 300,
})
const windowOf = (model: string): number | undefined => ({ a: 1_000, b: 2_000 })[model]

test("the line falls between the turns a compaction stands between", () => {
  expect(tokenSeries([turn(1, 800), compaction(1, "cmp_1"), turn(2, 350)], windowOf)).toEqual({
    turns: [1, 1.4, 1.4, 2],
    tokens: [800, 900, 300, 350],
    window: [1_000, 1_000, 1_000, 1_000],
    compactions: [{ turn: 1.4, compactionID: "cmp_1" }],
    last: { tokens: 350, window: 1_000 },
  })
})

test("the window follows the model, and what is not known is not drawn", () => {
  expect(tokenSeries([turn(1, 1, "a"), turn(2, 2, "b")], windowOf).window).toEqual([1_000, 2_000])
  expect(tokenSeries([turn(1, 1, "z")], windowOf).window).toEqual([null])
})

test("several compactions between two turns stay between them, in order", () => {
  const { turns } = tokenSeries(
    [turn(1, 800), compaction(1, "x"), compaction(1, "y"), compaction(1, "z"), turn(2, 1)],
    windowOf,
  )
  expect(turns).toEqual(turns.toSorted((left, right) => left - right))
  expect(Math.max(...turns.slice(0, -1))).toBeLessThan(2)
  expect(new Set(turns).size).toBe(5)
})

test("nothing makes an empty plot", () => {
  expect(tokenSeries([], windowOf)).toEqual({ turns: [], tokens: [], window: [], compactions: [] })
})
