/**
 * Markdown as a list of classified lines, which is enough for the readers of SESSION.md and the artifacts. Fenced code and
 * comments are not content and never become lines. One pass, and no pattern can look at a character twice.
 */
export interface Line {
  readonly kind: "heading" | "bullet" | "text" | "blank" | "rule"
  /** Without indentation, marker, checkbox and closing characters. */
  readonly text: string
  /** Columns of white space before it; a tab counts four. */
  readonly indent: number
  /** 1 to 6 for a heading, else 0. */
  readonly level: number
  /** The number of a numbered bullet: `2` of "2. text". */
  readonly number?: string
  /** The character between the brackets of a checkbox; a blank when empty. */
  readonly box?: string
}

export const readLines = (text: string): readonly Line[] => visibleLines(text).map(classify)

/** The lines outside fences, without comments. */
const visibleLines = (text: string): readonly string[] => {
  const visible: string[] = []
  let fence: string | undefined
  let comment = false
  // An unclosed comment hides only its own line, because its author wanted the rest to be read.
  const lastClose = text.lastIndexOf("-->")
  let offset = 0
  for (const line of text.split("\n")) {
    const start = offset
    offset += line.length + 1
    if (comment) {
      const end = line.indexOf("-->")
      if (end === -1) continue
      comment = false
      visible.push(line.slice(end + 3))
      continue
    }
    const sign = fenceOf(line)
    if (fence !== undefined) {
      if (sign !== undefined && sign.startsWith(fence) && line.trim() === sign) fence = undefined
      continue
    }
    if (sign !== undefined) {
      fence = sign
      continue
    }
    const cut = withoutComments(line)
    visible.push(cut.text)
    comment = cut.open !== undefined && start + cut.open < lastClose
  }
  return visible
}

/** The characters that open or close a fence: at least three of one kind. */
const fenceOf = (line: string): string | undefined => {
  const text = line.trimStart()
  const sign = text[0]
  if (sign !== "`" && sign !== "~") return undefined
  let length = 1
  while (text[length] === sign) length += 1
  if (length < 3) return undefined
  // Three back-ticks with more of them later in the line are a code span, not a fence.
  return sign === "`" && text.includes("`", length) ? undefined : sign.repeat(length)
}

const withoutComments = (line: string): { readonly text: string; readonly open?: number } => {
  let kept = ""
  let from = 0
  for (;;) {
    const start = line.indexOf("<!--", from)
    if (start === -1) return { text: kept + line.slice(from) }
    const end = line.indexOf("-->", start + 4)
    kept += line.slice(from, start)
    if (end === -1) return { text: kept, open: start }
    from = end + 3
  }
}

const classify = (line: string): Line => {
  const text = line.trim()
  if (text === "") return { kind: "blank", text, indent: 0, level: 0 }
  const indent = indentOf(line)
  const level = headingLevel(text)
  if (level > 0) return { kind: "heading", text: headingText(text, level), indent, level }
  if (isRule(text)) return { kind: "rule", text, indent, level: 0 }
  const marker = /^(?:[-*+•]|(\d{1,9})[.)])(?:[ \t]|$)/.exec(text)
  if (marker === null) return { kind: "text", text, indent, level: 0 }
  const rest = text.slice(marker[0].length).trimStart()
  const number = marker[1] === undefined ? {} : { number: marker[1] }
  const box = /^\[([^\]\n]?)\](?=[ \t]|$)/u.exec(rest)
  if (box === null) return { kind: "bullet", text: rest, indent, level: 0, ...number }
  return {
    kind: "bullet",
    text: rest.slice(box[0].length).trimStart(),
    indent,
    level: 0,
    box: box[1] || " ",
    ...number,
  }
}

const indentOf = (line: string): number => {
  let columns = 0
  for (const sign of line) {
    if (sign === " ") columns += 1
    else if (sign === "\t") columns += 4
    else break
  }
  return columns
}

const headingLevel = (text: string): number => {
  let level = 0
  while (text[level] === "#") level += 1
  const after = text[level]
  return level <= 6 && (after === undefined || after === " " || after === "\t") ? level : 0
}

const headingText = (text: string, level: number): string => {
  let end = text.length
  while (end > level && text[end - 1] === "#") end -= 1
  return text.slice(level, end).trim()
}

const isRule = (text: string): boolean =>
  text.length >= 3 && (text[0] === "-" || text[0] === "*" || text[0] === "_") && isOnly(text, text[0])

const isOnly = (text: string, sign: string): boolean => {
  for (const each of text) if (each !== sign && each !== " ") return false
  return true
}
