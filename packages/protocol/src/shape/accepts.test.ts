import * as fc from "fast-check"
import { is } from "valibot"
import { expect, test } from "vitest"

import { arbitraryOf, damaged } from "../../../../test/shape-arbitrary.ts"
import { DURABLE_EVENTS } from "../session-event.ts"
import { SESSION_MESSAGE } from "../session-message.ts"
import { accepts } from "./accepts.ts"
import { readBy } from "./read-by.ts"
import { schemaOf } from "./schema.ts"
import { anyOf, integer, listOf, mapOf, number, objectOf, STRING, text, type Shape } from "./shape.ts"

const SHAPES: Readonly<Record<string, Shape<unknown>>> = {
  ...DURABLE_EVENTS,
  message: SESSION_MESSAGE,
  bounds: objectOf({
    few: listOf(STRING, 2),
    short: text({ least: 1, most: 3 }),
    level: integer(1, 5),
    above: number({ above: 0 }),
    share: number({ least: 0 }),
    either: anyOf(STRING, listOf(STRING)),
    map: mapOf(STRING),
  }),
}

test.each(["refuse", "keep"] as const)("says what the library says, with unknown keys: %s", (unknown) => {
  for (const [name, shape] of Object.entries(SHAPES)) {
    const schema = readBy(schemaOf(shape), { unknown })
    const fast = accepts(schemaOf(shape), unknown)
    const values = fc.oneof(arbitraryOf(shape), arbitraryOf(shape).chain(damaged), fc.jsonValue())
    fc.assert(
      fc.property(values, (value) => {
        expect([name, fast(value)]).toEqual([name, is(schema, value)])
      }),
      { numRuns: 300 },
    )
  }
})

test.each([
  [mapOf(STRING), JSON.parse('{"__proto__":"x"}')],
  [mapOf(STRING), { constructor: "x" }],
  [mapOf(STRING), []],
  [objectOf({}), []],
  [objectOf({}), null],
  [number({ least: 0 }), Number.NaN],
  [number({ least: 0 }), Number.POSITIVE_INFINITY],
])("refuses what the library would take for something else: %o %o", (shape, value) => {
  expect(accepts(schemaOf(shape), "keep")(value)).toBe(false)
  expect(is(schemaOf(shape), value)).toBe(false)
})
