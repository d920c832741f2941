import * as fc from "fast-check"
import { expect, test } from "vitest"

import { MOST_MENTIONS, readMentions } from "./mentions.ts"

const path = (named: string, more: object = {}) => ({
  kind: "path",
  source: `@${named}`,
  path: named,
  loose: false,
  ...more,
})

test.each([
  ["see @src/a.ts, and @dir/.", [path("src/a.ts"), path("dir/")]],
  [
    "@src/a.ts#10-40",
    [{ ...path("src/a.ts", { lines: { from: 10, through: 40 } }), source: "@src/a.ts#10-40" }],
  ],
  ["@a.ts#7", [{ ...path("a.ts", { lines: { from: 7, through: 7 } }), source: "@a.ts#7" }]],
  ["@a.ts#L7-", [{ ...path("a.ts", { lines: { from: 7 } }), source: "@a.ts#L7-" }]],
  ["@a.ts#9-2", [{ ...path("a.ts", { lines: { from: 9, through: 9 } }), source: "@a.ts#9-2" }]],
  ["(@x.md)", [path("x.md")]],
  ["@**/*.{ts,tsx}!", [path("**/*.{ts,tsx}")]],
  ["@app/[id]/page.tsx", [path("app/[id]/page.tsx")]],
  ['@"my file.txt"#3 x', [{ ...path("my file.txt"), source: '@"my file.txt"' }]],
  ["@my\\ file.txt", [path("my file.txt")]],
  ["@. @..", [path("."), path("..")]],
  ["hello @alice", [path("alice", { loose: true })]],
  ["mail me@example.org", []],
  ["code `@no.ts` and @yes.ts", [path("yes.ts")]],
  ["```ts\n@Component\n@a/b.ts\n```\n@c.ts", [path("c.ts")]],
  ["~~~\n@a.ts", []],
  ["@a.ts and @a.ts", [path("a.ts")]],
  [
    "@mcp:docs/file:///a/b",
    [{ kind: "resource", source: "@mcp:docs/file:///a/b", server: "docs", uri: "file:///a/b" }],
  ],
  ["@ref:lib", [{ kind: "reference", source: "@ref:lib", alias: "lib", path: "" }]],
  [
    "@ref:lib/src/x.ts#1-2",
    [
      {
        kind: "reference",
        source: "@ref:lib/src/x.ts#1-2",
        alias: "lib",
        path: "src/x.ts",
        lines: { from: 1, through: 2 },
      },
    ],
  ],
  ["ask @agent:plan.", [{ kind: "agent", source: "@agent:plan", name: "plan" }]],
  [
    "see file:///tmp/a%20b.png",
    [{ kind: "address", source: "file:///tmp/a%20b.png", url: "file:///tmp/a%20b.png" }],
  ],
])("%j", (text, mentions) => {
  expect(readMentions(text)).toEqual({ mentions, more: 0 })
})

test("there are as many as there may be, and the others are counted", () => {
  const text = Array.from({ length: MOST_MENTIONS + 3 }, (_, at) => `@f${at}.ts`).join(" ")
  const { mentions, more } = readMentions(text)
  expect([mentions.length, more]).toEqual([MOST_MENTIONS, 3])
})

test.each(["`", "@", "@a", "```\n", "`x", "@(", '@"', "\\ @", "file://", "[@{"])(
  "a long text of %j is read in the time of its length",
  (piece) => {
    expect(readMentions(piece.repeat(200_000)).mentions.length).toBeLessThanOrEqual(MOST_MENTIONS)
  },
)

test("no text breaks it, and each mention is a piece of the text", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...Array.from("@ab/.#1-9`\"'\\ \n([{*~:,")) }), (text) => {
      const plain = text.replaceAll("\\", "")
      for (const { source } of readMentions(text).mentions)
        expect(plain).toContain(source.replace(/^@/u, "").replaceAll("\\", ""))
    }),
  )
})
