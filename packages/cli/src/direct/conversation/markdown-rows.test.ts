import { expect, test } from "vitest"

import { widthOf } from "./columns.ts"
import { openMarkdownRows } from "./markdown-rows.ts"
import { styleFor, type Style } from "./style.ts"

const tagged = (name: string) => (text: string) => `<${name}>${text}</${name}>`
const TAGS: Style = {
  dim: tagged("dim"),
  bold: tagged("b"),
  good: tagged("good"),
  bad: tagged("bad"),
  notice: tagged("notice"),
  italic: tagged("i"),
  code: tagged("code"),
  link: tagged("a"),
  isStyled: true,
}

const render = (text: string, width = 60, style = TAGS): readonly string[] => {
  const rows = openMarkdownRows(style)
  return [...text.split("\n").flatMap((line) => rows.line(line, width)), ...rows.end(width)]
}

test("headings, emphasis, code, links, lists and quotes are rendered", () => {
  expect(
    render(
      "# The plan\nUse **care** and *time*, `npm test`.\n- one\n  * two\n- [x] done\n> said\n[docs](https://a.b/c)",
    ),
  ).toEqual([
    "<b>The plan</b>",
    "Use <b>care</b> and <i>time</i>, <code>npm test</code>.",
    "• one",
    "  • two",
    "☑ done",
    "<dim>│ said</dim>",
    "docs (<a>https://a.b/c</a>)",
  ])
})

test("code in a block stays as it is, even if nothing closes it", () => {
  expect(render("```ts\nconst a = **b**\n# no heading\n```\nafter")).toEqual([
    "<dim>  ts</dim>",
    "  <code>const a = **b**</code>",
    "  <code># no heading</code>",
    "after",
  ])
  expect(render("~~~\nopen")).toEqual(["  <code>open</code>"])
})

test("a table is lined up, and one that does not fit stays as written", () => {
  const table = "| name | n |\n| --- | --: |\n| alpha | 1 |\n| b | 22 |"
  expect(render(table)).toEqual(["<b>name  │ n</b>", "<dim>──────┼───</dim>", "alpha │ 1", "b     │ 22"])
  expect(render("| a very long cell | x |\n| --- | --- |", 12).join("\n")).toContain("very")
})

test("unclosed marks, HTML and lone signs stay as written", () => {
  for (const text of [
    "2 * 3 * 4",
    "a_b_c",
    "**open",
    "<b>bold</b>",
    "[x]",
    "snake_case_name",
    "| not a table",
  ])
    expect(render(text)).toEqual([text])
})

test("without styles the text stays as written, and with them no row is wider than requested", () => {
  const plain = styleFor({ NO_COLOR: "1", TERM: "xterm" })
  expect(render("# A\n**b**\n```\nc\n```", 60, plain)).toEqual(["# A", "**b**", "```", "c", "```"])
  const colours = styleFor({ TERM: "xterm" })
  const text =
    "# A long heading of words\n- an item with many words in it\n```\na long line of code here\n```"
  for (const row of render(text, 14, colours)) expect(widthOf(row)).toBeLessThanOrEqual(14)
})

test("a hostile line is shown and throws nothing", () => {
  for (const text of ["*".repeat(1_900), "[".repeat(1_900), "_a".repeat(900), "`a".repeat(900)])
    expect(render(text, 80).length).toBeGreaterThan(0)
})
