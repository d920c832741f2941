import { Failure } from "@meridian/protocol"
import { decodeInput, flagName, type Field } from "@meridian/spaces"
import * as fc from "fast-check"
import { expect, test } from "vitest"

import { COMMANDS } from "./commands.ts"
import { findCommand } from "./find-command.ts"
import { GLOBAL_FLAGS } from "./global-flags.ts"
import { parseFlags } from "./parse-flags.ts"

const spellings = (key: string, field: Field): readonly string[] => {
  const long = `--${flagName(key, field)}`
  return field.short === undefined
    ? [long, `${long}=x`]
    : [long, `${long}=x`, `-${field.short}`, `-${field.short}x`]
}

const FLAGS = [...COMMANDS.map(({ meta }) => meta.fields), GLOBAL_FLAGS].flatMap((fields) =>
  Object.entries<Field>(fields).flatMap(([key, field]) => spellings(key, field)),
)
const WORDS = COMMANDS.flatMap(({ meta }) => meta.name.split("."))

const word = fc.oneof(
  fc.constantFrom(...WORDS),
  fc.constantFrom(...FLAGS),
  fc.constantFrom(
    "--",
    "-",
    "",
    "--=",
    "-=",
    "=",
    "---",
    "-1",
    "5m",
    "r1",
    "@latest",
    "__proto__",
    "--__proto__",
    "constructor",
  ),
  fc.string(),
)

const codedOrValue = (act: () => unknown): "understood" | "refused" => {
  try {
    act()
    return "understood"
  } catch (error) {
    if (error instanceof Failure) return "refused"
    throw error
  }
}

const understand = (words: readonly string[]): "understood" | "refused" =>
  codedOrValue(() => {
    const found = findCommand(words, COMMANDS)
    if (found.tag !== "command") return
    const { meta } = found.command
    const { values, passthrough } = parseFlags(meta, found.rest)
    decodeInput(meta, { values, passthrough, face: "command" })
  })

test("any words are understood or refused with a code, and nothing else is ever thrown", () => {
  fc.assert(
    fc.property(fc.array(word, { maxLength: 8 }), (words) => {
      expect(["understood", "refused"]).toContain(understand(words))
    }),
    { numRuns: 3_000 },
  )
})

test("any JSON given to a tool is understood or refused with a code", () => {
  const tools = COMMANDS.filter(({ meta }) => meta.tool !== undefined)
  expect(tools).toHaveLength(21)
  fc.assert(
    fc.property(fc.constantFrom(...tools), fc.dictionary(word, fc.jsonValue()), ({ meta }, values) => {
      const answer = codedOrValue(() => decodeInput(meta, { values, face: "tool" }))
      expect(["understood", "refused"]).toContain(answer)
    }),
    { numRuns: 1_000 },
  )
})
