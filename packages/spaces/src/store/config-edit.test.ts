import * as fc from "fast-check"
import { parse } from "smol-toml"
import { expect, test } from "vitest"

import { toTomlValue } from "../domain/config-template.ts"
import { findKey, keyLines, removeKey, setKey } from "../domain/config-text.ts"

/** Values as people write them, the awkward ones included. */
const VALUES = [
  "1",
  "true # why",
  '"a # b"',
  "'it = \"so\"'",
  '"esc \\" [ # "',
  "[1, 2]",
  '[\n  "a", # one ]\n  "b",\n]',
  "[[1], [2]] # nested",
  '"""\nmax_parallel = 9\n[runs]\n"""',
  "'''\n# not a comment\n'''",
  "{ x = 1, y = [1] }",
  "1979-05-27T07:32:00Z",
]

const COMMENTS = ["", "# max_parallel = 4", "#[runs]", "# 'open quote", "   ", '# ] } """']

const line = fc.oneof(
  fc.constantFrom(...COMMENTS),
  fc.record({
    name: fc.constantFrom("one", "two", "three", '"quoted key"'),
    value: fc.constantFrom(...VALUES),
  }),
)

const section = fc.record({
  name: fc.constantFrom("start", "runs", "other", "a.b"),
  lines: fc.array(line, { maxLength: 5 }),
  sets: fc.option(fc.constantFrom("1", "2 # keep", '"wrong type"')),
})

/** Each name once per section and each section once; otherwise it is not TOML. */
const document = fc
  .tuple(
    fc.uniqueArray(section, { maxLength: 4, selector: ({ name }) => name }),
    fc.constantFrom("\n", "\r\n"),
    fc.boolean(),
  )
  .map(([sections, ending, open]) => {
    const text = sections
      .flatMap(({ name, lines, sets }) => {
        const seen = new Set<string>()
        const body = lines.flatMap((entry) => {
          if (typeof entry === "string") return [entry]
          if (seen.has(entry.name)) return []
          seen.add(entry.name)
          return [`${entry.name} = ${entry.value}`]
        })
        return [`[${name}]`, ...body, ...(name === "runs" && sets !== null ? [`max_parallel = ${sets}`] : [])]
      })
      .join("\n")
    return (open ? text : `${text}\n`).replaceAll("\n", ending)
  })

const value = fc.oneof(
  fc.integer({ min: 0, max: 99 }),
  fc.boolean(),
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.array(fc.string({ maxLength: 5 }), { maxLength: 3 }),
)

const KEY = "runs.max_parallel"

/** The meaning of the text without the key. */
const others = (text: string): string => {
  const { runs, ...rest } = parse(text)
  const left = Object.entries(typeof runs === "object" ? runs : {}).filter(
    ([name]) => name !== "max_parallel",
  )
  return JSON.stringify(
    [Object.entries(rest).toSorted(([one], [two]) => (one < two ? -1 : 1)), left],
    (_, found: unknown) => (typeof found === "bigint" ? String(found) : found),
  )
}

const meaning = (text: string): unknown =>
  Object.entries(parse(text)["runs"] ?? {}).find(([name]) => name === "max_parallel")?.[1]

test("whatever the file looks like, setting a key says the new value and changes nothing else", () => {
  fc.assert(
    fc.property(document, value, (before, given) => {
      const after = setKey(before, KEY, toTomlValue(given))
      expect(meaning(after)).toEqual(given)
      expect(others(after)).toBe(others(before))
    }),
    { numRuns: 1_000 },
  )
})

test("resetting removes the key, and restores the first text if it was not set before", () => {
  fc.assert(
    fc.property(document, value, (before, given) => {
      const set = setKey(before, KEY, toTomlValue(given))
      const reset = removeKey(set, KEY)
      expect([meaning(reset), others(reset)]).toEqual([undefined, others(before)])
      const returns =
        findKey(before, KEY) === undefined && keyLines(before).has("runs") && before.endsWith("\n")
      expect(returns ? reset : before).toBe(before)
    }),
    { numRuns: 1_000 },
  )
})

test("every key that is set is found on its own line", () => {
  fc.assert(
    fc.property(document, (text) => {
      const lines = text.split("\n")
      for (const [name, at] of keyLines(text))
        expect(lines[at - 1] ?? "").toContain(name.split(".").at(-1) ?? "")
    }),
    { numRuns: 500 },
  )
})
