/**
 * A small editor of TOML text that knows lines, not meaning. It finds the place of a key and changes only that, so
 * comments, order and spacing of everything else survive. No well-kept library does this (smol-toml parses and
 * prints, and printing loses every comment). The store checks each edit by parsing the result.
 */

export interface KeyPlace {
  /** 1-based line of the key. */
  readonly line: number
  /** Offsets into the text: start of the key's line, the value, and the end of its last line (newline included). */
  readonly lineStart: number
  readonly valueStart: number
  readonly valueEnd: number
  readonly lineEnd: number
}

/** `section.name` -> where it is set; undefined when it is not (a commented line does not set it). */
export const findKey = (text: string, key: string): KeyPlace | undefined => {
  for (const entry of entriesOf(text))
    if (entry.tag === "value" && entry.path.join(".") === key) return entry.place
  return undefined
}

/** Every key that is set: `section.name` with its 1-based line. The first place of a key counts. */
export const keyLines = (text: string): ReadonlyMap<string, number> => {
  const lines = new Map<string, number>()
  for (const entry of entriesOf(text)) {
    const name = entry.path.join(".")
    const line = entry.tag === "value" ? entry.place.line : entry.line
    if (!lines.has(name)) lines.set(name, line)
  }
  return lines
}

/**
 * Sets one key to the TOML source of a value. Changes the key in place, or adds one line where it belongs. `header`
 * is the section's header, for a section that must be written and whose name needs quotes.
 */
export const setKey = (text: string, key: string, value: string, header?: string): string => {
  const place = findKey(text, key)
  const ending = text.includes("\r\n") ? "\r\n" : "\n"
  if (place !== undefined) {
    // Comments inside the old value have no place in the new one, so they move above it.
    const comments = commentsIn(text.slice(place.valueStart, place.valueEnd)).map((line) => line + ending)
    const before = text.slice(place.lineStart, place.valueStart)
    return text.slice(0, place.lineStart) + comments.join("") + before + value + text.slice(place.valueEnd)
  }
  const dot = key.lastIndexOf(".")
  const [section, name] = [key.slice(0, dot), key.slice(dot + 1)]
  const added = `${name} = ${value}`
  const at = placeForNew(text, section, name)
  if (at !== undefined) return insertLine(text, at, added, ending)
  const gap = text === "" ? "" : text.endsWith("\n") ? ending : ending + ending
  return `${text}${gap}${header ?? `[${section}]`}${ending}${added}${ending}`
}

/** Removes the lines that set a key. Without such lines the text stays unchanged. */
export const removeKey = (text: string, key: string): string => {
  const place = findKey(text, key)
  return place === undefined ? text : text.slice(0, place.lineStart) + text.slice(place.lineEnd)
}

type Entry =
  | { readonly tag: "section"; readonly path: readonly string[]; readonly line: number; readonly end: number }
  | { readonly tag: "value"; readonly path: readonly string[]; readonly place: KeyPlace }

function* entriesOf(text: string): Generator<Entry> {
  let offset = text.startsWith("\uFEFF") ? 1 : 0
  let line = 1
  let section: readonly string[] = []
  while (offset < text.length) {
    const start = offset
    const newline = text.indexOf("\n", start)
    const content = text.slice(start, newline === -1 ? text.length : newline)
    let end = newline === -1 ? text.length : newline + 1
    const header = /^\s*\[\[?([^\][]+)\]\]?\s*(#.*)?$/.exec(content.trimEnd())
    const assignment = header === null ? KEY.exec(content) : null
    if (header !== null) {
      section = splitKey(header[1] ?? "")
      yield { tag: "section", path: section, line, end }
    } else if (assignment !== null) {
      const valueStart = start + assignment[0].length
      const valueEnd = endOfValue(text, valueStart)
      const after = text.indexOf("\n", valueEnd)
      end = after === -1 ? text.length : after + 1
      const place = { line, lineStart: start, valueStart, valueEnd, lineEnd: end }
      yield { tag: "value", path: [...section, ...splitKey(assignment[1] ?? "")], place }
    }
    line += countLines(text.slice(start, end))
    offset = end
  }
}

const KEY = /^\s*((?:[\w-]+|"[^"\n]*"|'[^'\n]*')(?:\s*\.\s*(?:[\w-]+|"[^"\n]*"|'[^'\n]*'))*)\s*=[ \t]*/

const splitKey = (text: string): readonly string[] =>
  [...text.matchAll(/[\w-]+|"([^"\n]*)"|'([^'\n]*)'/g)].map((match) => match[1] ?? match[2] ?? match[0])

/** The offset just after the value that starts here. Steps over strings, nested brackets and the comments inside them. */
const endOfValue = (text: string, start: number): number => {
  let depth = 0
  let offset = start
  let end = start
  while (offset < text.length) {
    const character = text[offset] ?? ""
    const quote = QUOTES.find((candidate) => text.startsWith(candidate, offset))
    if (quote !== undefined) {
      offset = endOfString(text, offset, quote)
      end = offset
      continue
    }
    if (character === "#") {
      if (depth === 0) break
      const newline = text.indexOf("\n", offset)
      offset = newline === -1 ? text.length : newline
      continue
    }
    if (character === "\n" && depth === 0) break
    if (character === "[" || character === "{") depth += 1
    if (character === "]" || character === "}") depth -= 1
    offset += 1
    if (!/\s/.test(character)) end = offset
  }
  return end
}

const commentsIn = (value: string): readonly string[] => {
  const comments: string[] = []
  for (let offset = 0; offset < value.length; offset += 1) {
    const quote = QUOTES.find((candidate) => value.startsWith(candidate, offset))
    if (quote !== undefined) offset = endOfString(value, offset, quote) - 1
    else if (value[offset] === "#") {
      const newline = value.indexOf("\n", offset)
      const end = newline === -1 ? value.length : newline
      comments.push(value.slice(offset, end).trimEnd())
      offset = end
    }
  }
  return comments
}

/** Longest first. */
const QUOTES = ['"""', "'''", '"', "'"] as const

const endOfString = (text: string, start: number, quote: (typeof QUOTES)[number]): number => {
  const escapes = quote.startsWith('"')
  for (let offset = start + quote.length; offset < text.length; offset += 1) {
    if (escapes && text[offset] === "\\") offset += 1
    else if (text.startsWith(quote, offset)) return offset + quote.length
    else if (quote.length === 1 && text[offset] === "\n") return offset
  }
  return text.length
}

/** Where a new line for the key goes: after its commented example, else after its section's header. */
const placeForNew = (text: string, section: string, name: string): number | undefined => {
  const headers = [...entriesOf(text)].filter((entry) => entry.tag === "section")
  const index = headers.findIndex((entry) => entry.path.join(".") === section)
  const header = headers[index]
  if (header === undefined) return undefined
  const next = headers[index + 1]
  const nextStart = next === undefined ? text.length : text.lastIndexOf("\n", next.end - 2) + 1
  const body = text.slice(header.end, nextStart)
  const example = new RegExp(`^[ \\t]*#[ \\t]*${name}[ \\t]*=.*$`, "m").exec(body)
  if (example === null) return header.end
  const newline = text.indexOf("\n", header.end + example.index)
  return newline === -1 ? text.length : newline + 1
}

const insertLine = (text: string, at: number, line: string, ending: string): string => {
  const before = text.slice(0, at)
  const gap = before === "" || before.endsWith("\n") ? "" : ending
  return `${before}${gap}${line}${ending}${text.slice(at)}`
}

const countLines = (text: string): number => text.split("\n").length - 1
