/** Small languages checked against their definitions with generated input: globs, patches and previews. */
import * as fc from "fast-check"
import { expect, test } from "vitest"

import { openWorkspace, textOf } from "../../../../test/tool-scene.ts"
import { boundOutput } from "./bound-output.ts"
import { compileGlob } from "./glob-pattern.ts"
import { TOOL_LIMITS } from "./limits.ts"
import { applyChunks } from "./patch-match.ts"
import { parsePatch } from "./patch-text.ts"

/** The definition, however slow: it tries every way to read the pattern. */
const globDefinition = (pattern: readonly string[], path: readonly string[]): boolean => {
  const [first, ...rest] = pattern
  if (first === undefined) return path.length === 0
  if (first === "**")
    return globDefinition(rest, path) || (path.length > 0 && globDefinition(pattern, path.slice(1)))
  const [name, ...others] = path
  return name !== undefined && nameDefinition(first, name) && globDefinition(rest, others)
}
const nameDefinition = (pattern: string, name: string): boolean => {
  if (pattern === "") return name === ""
  if (pattern.startsWith("*"))
    return nameDefinition(pattern.slice(1), name) || (name !== "" && nameDefinition(pattern, name.slice(1)))
  if (name === "" || (pattern[0] !== "?" && pattern[0] !== name[0])) return false
  return nameDefinition(pattern.slice(1), name.slice(1))
}

const name = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 4 })
const part = fc.oneof(
  fc.constant("**"),
  fc
    .string({ unit: fc.constantFrom("a", "b", "*", "?"), minLength: 1, maxLength: 4 })
    .filter((text) => !text.includes("**")),
)

test("a glob matches what its definition matches", () => {
  fc.assert(
    fc.property(
      fc.array(part, { minLength: 1, maxLength: 4 }),
      fc.array(name, { minLength: 1, maxLength: 5 }),
      (pattern, path) => {
        const compiled = compileGlob(pattern.join("/"), { braces: true })
        expect(compiled.type === "pattern" && compiled.matches(path.join("/"))).toBe(
          globDefinition(pattern, path),
        )
      },
    ),
    { numRuns: 3000 },
  )
})

test("no text makes the glob compiler or the patch parser throw", () => {
  const noise = fc.string({
    unit: fc.constantFrom("*", "{", "}", ",", "[", "]", "!", "-", "\\", "/", "a", "?"),
    maxLength: 60,
  })
  fc.assert(
    fc.property(noise, name, (pattern, path) => {
      const compiled = compileGlob(pattern, { braces: true })
      if (compiled.type === "pattern") compiled.matches(path)
    }),
    { numRuns: 2000 },
  )
  const lines = fc.array(
    fc.constantFrom(
      "*** Begin Patch",
      "*** End Patch",
      "*** Add File: a",
      "*** Update File: b",
      "*** Delete File: c",
      "@@",
      "@@ x",
      " x",
      "-x",
      "+y",
      "",
      "*** End of File",
      "*** Move to: d",
      "noise",
    ),
    { maxLength: 12 },
  )
  fc.assert(
    fc.property(lines, (some) => {
      const parsed = parsePatch(some.join("\n"))
      if (parsed.type === "patch")
        for (const section of parsed.sections)
          if (section.type === "update") applyChunks("x\n", section.chunks)
    }),
    { numRuns: 2000 },
  )
})

test("a patch written from two versions of a file turns one into the other", () => {
  const line = fc.string({ unit: fc.constantFrom("a", "b", " ", "é"), maxLength: 4 })
  const version = fc.array(line, { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(version, version, fc.boolean(), (before, after, carriage) => {
      fc.pre(before.join("\n") !== after.join("\n"))
      const ending = carriage ? "\r\n" : "\n"
      const patch = [
        "*** Begin Patch",
        "*** Update File: f",
        ...before.map((text) => `-${text}`),
        ...after.map((text) => `+${text}`),
        "*** End Patch",
      ].join("\n")
      const parsed = parsePatch(patch)
      const section = parsed.type === "patch" ? parsed.sections[0] : undefined
      const whole = (lines: readonly string[]) => lines.map((text) => text + ending).join("")
      expect(section?.type === "update" ? applyChunks(whole(before), section.chunks) : parsed).toEqual({
        type: "patched",
        text: whole(after),
      })
    }),
    { numRuns: 1000 },
  )
})

test("a preview is within its bounds and made of the two ends of the text", async () => {
  await using space = await openWorkspace()
  const piece = fc.oneof(
    fc.constant("\n"),
    fc.constant("x".repeat(999)),
    fc.constant("😀é"),
    fc.constant("a\n"),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 1, max: 3000 }),
      async (some, times) => {
        // Half a character is not text and would be written as another one.
        const whole = some.join("").repeat(times).slice(0, 400_000).toWellFormed()
        const output = await boundOutput({ content: [{ type: "text", text: whole }] }, space.outputDirectory)
        const text = textOf(output)
        if (text === whole) return
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(TOOL_LIMITS.outputBytes + 500)
        const [, head = "", tail = ""] = /^(.*)\n\n\[\.\.\. [^\n]* \.\.\.\]\n\n(.*)$/s.exec(text) ?? []
        expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true)
      },
    ),
    { numRuns: 60 },
  )
})
