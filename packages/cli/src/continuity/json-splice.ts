/**
 * Adds one entry to a JSON text, or removes one, without touching a character of the others. It works on positions of
 * a parsed tree: re-indenting the neighbours would show up in the user's version control.
 */
import type { Node } from "jsonc-parser"

/** Adds a value at the end of an object or a list, in the style of that container: one line, or one entry a line. */
export const insertLast = (
  text: string,
  container: Node,
  entry: { readonly key?: string; readonly value: unknown },
): string => {
  const last = container.children?.at(-1)
  const unit = indentUnit(text)
  const eol = text.includes("\r\n") ? "\r\n" : "\n"
  const own = indentAt(text, container.offset)
  const opens = text.indexOf("\n", container.offset)
  const oneLine = last !== undefined && (opens === -1 || opens > last.offset)
  const indent = last === undefined || oneLine ? own + unit : indentAt(text, last.offset)
  const value = oneLine ? JSON.stringify(entry.value) : pretty(entry.value, unit, indent, eol)
  const written = entry.key === undefined ? value : `${JSON.stringify(entry.key)}: ${value}`
  if (last === undefined) {
    const close = container.offset + container.length - 1
    return `${text.slice(0, container.offset + 1)}${eol}${indent}${written}${eol}${own}${text.slice(close)}`
  }
  const end = last.offset + last.length
  return `${text.slice(0, end)},${oneLine ? " " : eol + indent}${written}${text.slice(end)}`
}

/** Removes a child with its comma and the blanks around it. Comments stay. */
export const removeChild = (text: string, container: Node, child: Node): string => {
  const children = container.children ?? []
  const at = children.indexOf(child)
  const before = children[at - 1]
  const after = children[at + 1]
  const end = child.offset + child.length
  if (before !== undefined) {
    const start = before.offset + before.length
    return text.slice(0, start) + withoutComma(text.slice(start, child.offset)) + text.slice(end)
  }
  if (after !== undefined)
    return (
      text.slice(0, child.offset) + withoutComma(text.slice(end, after.offset)) + text.slice(after.offset)
    )
  const open = container.offset + 1
  const close = container.offset + container.length - 1
  const rest = text.slice(open, child.offset) + text.slice(end, close)
  return text.slice(0, open) + (rest.trim() === "" ? "" : rest) + text.slice(close)
}

/** Between two entries are one comma, blanks, and perhaps comments. */
const withoutComma = (between: string): string => {
  const comments = between.match(/\/\/[^\n]*\n|\/\*[^]*?\*\//g) ?? []
  return comments.length === 0 ? "" : ` ${comments.join(" ")}`
}

const pretty = (value: unknown, unit: string, indent: string, eol: string): string =>
  JSON.stringify(value, undefined, unit).replaceAll("\n", `${eol}${indent}`)

const indentUnit = (text: string): string => /^([ \t]+)\S/m.exec(text)?.[1] ?? "  "

/** The blanks at the beginning of a position's line. */
const indentAt = (text: string, offset: number): string => {
  const start = text.lastIndexOf("\n", offset - 1) + 1
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? ""
}
