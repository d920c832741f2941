import * as fc from "fast-check"
import { expect, test } from "vitest"

import { MOST_MARKDOWN, readMarkdown, type Block } from "./markdown.ts"

const text = (words: string) => ({ kind: "text", text: words }) as const
const paragraph = (...inner: readonly object[]) => ({ kind: "paragraph", inner })

test.each([
  ["words", [paragraph(text("words"))]],
  [
    "a **b** *c* ~~d~~ `e`",
    [
      paragraph(
        text("a "),
        { kind: "strong", inner: [text("b")] },
        text(" "),
        { kind: "emphasis", inner: [text("c")] },
        text(" "),
        { kind: "deleted", inner: [text("d")] },
        text(" "),
        { kind: "code", text: "e" },
      ),
    ],
  ],
  ["## Title", [{ kind: "heading", level: 2, inner: [text("Title")] }]],
  ["```ts\nconst a = 1 < 2\n```", [{ kind: "code", language: "ts", text: "const a = 1 < 2" }]],
  ["```\nnever closed", [{ kind: "code", language: "", text: "never closed" }]],
  ["> quoted", [{ kind: "quote", inner: [paragraph(text("quoted"))] }]],
  [
    "3. c\n4. d",
    [
      {
        kind: "list",
        start: 3,
        items: [
          { isDone: undefined, inner: [paragraph(text("c"))] },
          { isDone: undefined, inner: [paragraph(text("d"))] },
        ],
      },
    ],
  ],
  [
    "- [x] done\n- [ ] open",
    [
      {
        kind: "list",
        start: undefined,
        items: [
          { isDone: true, inner: [paragraph(text("done"))] },
          { isDone: false, inner: [paragraph(text("open"))] },
        ],
      },
    ],
  ],
  [
    "| a | b |\n| - | -: |\n| 1 | 2 |",
    [
      {
        kind: "table",
        head: [
          { align: undefined, inner: [text("a")] },
          { align: "right", inner: [text("b")] },
        ],
        rows: [
          [
            { align: undefined, inner: [text("1")] },
            { align: "right", inner: [text("2")] },
          ],
        ],
      },
    ],
  ],
  ["a\n\n---", [paragraph(text("a")), { kind: "rule" }]],
  ["1 &lt; 2 &amp; 3", [paragraph(text("1 < 2 & 3"))]],
])("%j is read", (source, blocks) => {
  expect(readMarkdown(source)).toEqual(blocks)
})

test.each([
  ["[x](https://example.org/a)", { kind: "link", address: "https://example.org/a", inner: [text("x")] }],
  [
    "<https://example.org>",
    { kind: "link", address: "https://example.org", inner: [text("https://example.org")] },
  ],
  [
    "![alt](https://example.org/a.png)",
    { kind: "link", address: "https://example.org/a.png", inner: [text("alt")] },
  ],
  ["[x](javascript:alert(1))", text("[x](javascript:alert(1))")],
  ["[x](data:text/html,a)", text("[x](data:text/html,a)")],
  ["[x](./file.ts)", text("[x](./file.ts)")],
])("the link %s can be followed only to the web or to mail", (source, inline) => {
  expect(readMarkdown(source)).toEqual([paragraph(inline)])
})

test("HTML is text", () => {
  expect(readMarkdown('<img src=x onerror="alert(1)">')).toEqual([
    paragraph(text('<img src=x onerror="alert(1)">')),
  ])
  expect(JSON.stringify(readMarkdown("a <b>c</b>"))).toContain("<b>")
})

test("what is too long or nested too deep is shown as it is written", () => {
  const long = "x".repeat(MOST_MARKDOWN + 1)
  expect(readMarkdown(long)).toEqual([paragraph(text(long))])
  const deep = `${"> ".repeat(8_000)}a`
  expect(JSON.stringify(readMarkdown(deep))).toContain("a")
})

const depthOf = (blocks: readonly Block[]): number =>
  Math.max(
    0,
    ...blocks.map((block) =>
      block.kind === "quote"
        ? 1 + depthOf(block.inner)
        : block.kind === "list"
          ? 1 + Math.max(0, ...block.items.map(({ inner }) => depthOf(inner)))
          : 0,
    ),
  )

test("no text makes it throw or nest without end", () => {
  const pieces = fc.constantFrom(
    "*",
    "_",
    "`",
    "~",
    "[",
    "]",
    "(",
    ")",
    "!",
    "> ",
    "- ",
    "1. ",
    "#",
    "|",
    "\n",
    "\n\n",
    "    ",
    "<a",
    ">",
    "http://",
    "\\",
    "&lt;",
    "word ",
    "```",
    ":",
    "\t",
  )
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 200 }), (parts) => {
      expect(depthOf(readMarkdown(parts.join("")))).toBeLessThan(20)
    }),
    { numRuns: 1_000 },
  )
})
