/**
 * Renders a model's Markdown as terminal rows, line by line, while it is still being written. Headings, emphasis and
 * code get a style, code is indented, tables are lined up, links show their address. Terminals without styles get the
 * text as it was written. A fold: state inside, no I/O. The input is already plain.
 */
import { Lexer, type MarkedToken, type Token } from "marked"

import { widthOf, wrapLine } from "./columns.ts"
import type { Style } from "./style.ts"

export interface MarkdownRows {
  /** One line, or the full part of a long one. */
  readonly line: (line: string, width: number) => readonly string[]
  /** The rows that waited for more: a table. */
  readonly end: (width: number) => readonly string[]
}

/** For some texts the library takes quadratic time. A longer line is shown as it is. */
const MOST_CHARACTERS = 2_000
const MOST_TABLE_ROWS = 200

export const openMarkdownRows = (style: Style): MarkdownRows => {
  if (!style.isStyled) return { line: wrapLine, end: () => [] }
  /** The fence that closes the block. */
  let fence: string | undefined
  let table: string[] = []

  const end = (width: number): readonly string[] => {
    const rows =
      table.length < 2 ? table.flatMap((line) => wrapLine(line, width)) : tableRows(table, width, style)
    table = []
    return rows
  }

  const code = (line: string, width: number): readonly string[] =>
    wrapLine(line, width - 2).map((row) => `  ${style.code(row)}`)

  const line = (text: string, width: number): readonly string[] => {
    const marks = /^\s*(`{3,}|~{3,})/.exec(text)?.[1]
    if (fence !== undefined) {
      if (marks === undefined || !marks.startsWith(fence)) return code(text, width)
      fence = undefined
      return []
    }
    if (/^\s*\|.*\|\s*$/.test(text) && table.length < MOST_TABLE_ROWS) {
      table.push(text)
      return []
    }
    const before = end(width)
    if (marks === undefined) return [...before, ...plainRows(text, width, style)]
    fence = marks
    const language = text.trim().slice(marks.length).trim()
    return [...before, ...(language === "" ? [] : [style.dim(`  ${language}`)])]
  }

  return { line, end }
}

const plainRows = (text: string, width: number, style: Style): readonly string[] => {
  const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(text)
  if (heading !== null) return wrapLine(heading[1] ?? "", width).map(style.bold)
  if (/^\s*(?:[-*_]\s*){3,}$/.test(text)) return [style.dim("─".repeat(Math.min(width, 40)))]
  const quote = /^\s*>\s?(.*)$/.exec(text)
  if (quote !== null)
    return wrapLine(quote[1] ?? "", width - 2).map((row) => style.dim(`│ ${inline(row, style)}`))
  const item = /^(\s*)[-*+]\s+(?:\[([ xX])\]\s+)?(.*)$/.exec(text)
  if (item === null) return wrapLine(text, width).map((row) => inline(row, style))
  const [, indent = "", done, rest = ""] = item
  const mark = done === undefined ? "•" : done === " " ? "☐" : "☑"
  return wrapLine(rest, Math.max(10, width - indent.length - 2)).map(
    (row, index) => `${indent}${index === 0 ? mark : " "} ${inline(row, style)}`,
  )
}

/** Marks that begin and end in the same row. Others stay as written. */
const inline = (row: string, style: Style): string => {
  if (row.length > MOST_CHARACTERS || !/[*_`[\]~\\<]|https?:/.test(row)) return row
  try {
    return Lexer.lexInline(row)
      .map((token) => styled(token, style))
      .join("")
  } catch {
    return row
  }
}

const styled = (given: Token, style: Style): string => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- without extensions the library gives no other tokens
  const token = given as MarkedToken
  const inner = (): string =>
    "tokens" in token && token.tokens !== undefined
      ? token.tokens.map((each) => styled(each, style)).join("")
      : token.raw
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- everything else is shown as it is written
  switch (token.type) {
    case "strong":
      return style.bold(inner())
    case "em":
      return style.italic(inner())
    case "codespan":
      return style.code(token.text)
    case "link":
      return token.text === token.href ? style.link(token.href) : `${inner()} (${style.link(token.href)})`
    case "escape":
      return token.text
    default:
      return token.raw
  }
}

/** Columns as wide as their widest cell. A table that does not fit is shown as written. */
const tableRows = (lines: readonly string[], width: number, style: Style): readonly string[] => {
  const cells = lines.map((line) =>
    line
      .trim()
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll("\\|", "|")),
  )
  const isRule = (row: readonly string[]): boolean => row.every((cell) => /^:?-+:?$/.test(cell))
  const rows = cells.filter((row) => !isRule(row))
  const widths: number[] = []
  for (const row of rows)
    for (const [index, cell] of row.entries())
      widths[index] = Math.max(widths[index] ?? 0, widthOf(inline(cell, style)))
  const whole = widths.reduce((sum, each) => sum + each + 3, -3)
  if (whole > width) return lines.flatMap((line) => wrapLine(line, width))
  const drawn = rows.map((row) =>
    widths
      .map((wide, index) => {
        const cell = inline(row[index] ?? "", style)
        return cell + " ".repeat(Math.max(0, wide - widthOf(cell)))
      })
      .join(" │ ")
      .trimEnd(),
  )
  const [head = "", ...body] = drawn
  if (!cells.some(isRule)) return drawn
  return [style.bold(head), style.dim(widths.map((wide) => "─".repeat(wide)).join("─┼─")), ...body]
}
