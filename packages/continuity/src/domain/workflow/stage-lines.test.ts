import { expect, test } from "vitest"

import { STAGE_LINES } from "../../../../../test/fixture/stage-lines.ts"
import { readStage } from "./read-stage.ts"

const readingOf = (line: string): string => {
  const reading = readStage([line])
  return reading.tag === "stage" ? reading.stage : reading.tag
}

test("at least 98 % of the lines people write are read as a person reads them", () => {
  expect(STAGE_LINES.length).toBeGreaterThanOrEqual(200)
  expect(new Set(STAGE_LINES.map(([line]) => line)).size).toBe(STAGE_LINES.length)
  const wrong = STAGE_LINES.filter(([line, reading]) => readingOf(line) !== reading)
  expect(wrong.length / STAGE_LINES.length).toBeLessThanOrEqual(0.02)
})

test("of these none is read wrong today", () => {
  expect(STAGE_LINES.filter(([line, reading]) => readingOf(line) !== reading)).toEqual([])
})
