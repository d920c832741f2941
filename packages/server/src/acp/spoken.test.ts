import * as fc from "fast-check"
import { expect, test } from "vitest"

import { openSpoken, type SpokenKind } from "./spoken.ts"

test("what was streamed is not said again, and what was not is", () => {
  const spoken = openSpoken()
  expect(spoken.fragment("text", "m", "Hel")).toBe("Hel")
  expect(spoken.whole("text", "m", "Hello.")).toBe("lo.")
  expect(spoken.fragment("text", "m", "lo.")).toBe("")
  expect(spoken.whole("text", "m", "More.")).toBe("More.")
})

test("after lost fragments the durable text tells the rest", () => {
  const spoken = openSpoken()
  spoken.fragment("text", "m", "One ")
  spoken.miss()
  expect(spoken.fragment("text", "m", "three")).toBe("")
  expect(spoken.whole("text", "m", "One two three")).toBe("two three")
})

test("a replay, which has no fragments, shows every text whole", () => {
  const spoken = openSpoken()
  expect(spoken.whole("reasoning", "m", "Hm.")).toBe("Hm.")
  expect(spoken.whole("text", "m", "Hm.")).toBe("Hm.")
})

/** Texts of one message, cut into fragments. Each durable text comes somewhere after the first of its fragments. */
const messages = fc.array(
  fc.record({
    kind: fc.constantFrom<SpokenKind>("text", "reasoning"),
    pieces: fc.array(fc.string({ minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 5 }),
  }),
  { minLength: 1, maxLength: 5 },
)

test("whatever the order of the two ways, every character is shown once and in order", () => {
  fc.assert(
    fc.property(messages, fc.infiniteStream(fc.boolean()), (parts, coin) => {
      const spoken = openSpoken()
      const fragments = parts.flatMap(({ kind, pieces }) => pieces.map((piece) => ({ kind, piece })))
      const durable = parts.map(({ kind, pieces }) => ({ kind, text: pieces.join("") }))
      const said = { text: "", reasoning: "" }
      let next = 0
      let ended = 0
      while (next < fragments.length || ended < durable.length) {
        const fragment = fragments[next]
        const whole = durable[ended]
        const streams = fragment !== undefined && (whole === undefined || coin.next().value)
        if (streams) {
          said[fragment.kind] += spoken.fragment(fragment.kind, "m", fragment.piece)
          next += 1
        } else if (whole !== undefined) {
          said[whole.kind] += spoken.whole(whole.kind, "m", whole.text)
          ended += 1
        }
      }
      for (const kind of ["text", "reasoning"] as const)
        expect(said[kind]).toBe(durable.flatMap((part) => (part.kind === kind ? [part.text] : [])).join(""))
    }),
  )
})
