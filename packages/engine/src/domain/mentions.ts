/**
 * What a prompt names with `@`, read from its text alone: files with or without lines, folders, globs, file URLs, resources
 * of MCP servers, references and agents. Pure: nothing is looked up here.
 *
 * A mention starts at the beginning of a word. Code is skipped: a decorator or an address in it is not a mention.
 */
export type Mention =
  | {
      readonly kind: "path"
      /** As the user wrote it. */
      readonly source: string
      readonly path: string
      readonly lines?: Lines
      /** It may be an ordinary word. Without such a file it is one. */
      readonly loose: boolean
    }
  | { readonly kind: "address"; readonly source: string; readonly url: string; readonly lines?: Lines }
  | { readonly kind: "resource"; readonly source: string; readonly server: string; readonly uri: string }
  | {
      readonly kind: "reference"
      readonly source: string
      readonly alias: string
      readonly path: string
      readonly lines?: Lines
    }
  | { readonly kind: "agent"; readonly source: string; readonly name: string }

/** Counted from 1. Without `through`, to the end of the file. */
export interface Lines {
  readonly from: number
  readonly through?: number
}

export interface Mentions {
  readonly mentions: readonly Mention[]
  /** How many mentions exceed the limit. */
  readonly more: number
}

export const MOST_MENTIONS = 200

/** Each mention once, in the order of first appearance. */
export const readMentions = (text: string): Mentions => {
  const found = new Map<string, Mention>()
  let more = 0
  for (const [, quote, inside, address, word] of withoutCode(text).matchAll(MENTION)) {
    const mention =
      quote === undefined ? ofWord(address ?? unescaped(word ?? "")) : ofQuoted(quote, inside ?? "")
    if (mention === undefined || found.has(mention.source)) continue
    if (found.size < MOST_MENTIONS) found.set(mention.source, mention)
    else more += 1
  }
  return { mentions: [...found.values()], more }
}

/**
 * A mention starts the text or follows a space, a bracket or a quote. In quotes it may contain anything; a plain word ends
 * at a space without a backslash before it.
 */
const MENTION =
  /(?<=^|[\s([{<"'`,;:])(?:@(["'])((?:(?!\1)[^\n]){1,4096})\1|@?(file:\/\/(?:\\.|[^\s\\]){1,4096})|@((?:\\.|[^\s\\"'`@,;<>()]|[,;@](?=[^\s])){1,4096}))/gu

const ofQuoted = (quote: string, inside: string): Mention | undefined => {
  const mention = ofWord(inside, false)
  return mention === undefined ? undefined : { ...mention, source: `@${quote}${inside}${quote}` }
}

const ofWord = (word: string, plain = true): Mention | undefined => {
  const bare = plain ? withoutEnding(word) : word
  if (bare === "") return undefined
  if (bare.startsWith("file://")) {
    const { name: url, lines } = splitLines(bare)
    return { kind: "address", source: bare, url, ...lines }
  }
  const source = `@${bare}`
  const special = /^(mcp|ref|agent):(.+)$/su.exec(bare)
  if (special !== null) {
    const [, kind, rest = ""] = special
    const slash = rest.indexOf("/")
    const [head, tail] = slash === -1 ? [rest, ""] : [rest.slice(0, slash), rest.slice(slash + 1)]
    if (head === "") return undefined
    if (kind === "agent") return { kind: "agent", source, name: rest }
    if (kind === "mcp") return { kind: "resource", source, server: head, uri: tail }
    const { name: path, lines } = splitLines(tail)
    return { kind: "reference", source, alias: head, path, ...lines }
  }
  const { name: path, lines } = splitLines(bare)
  if (path === "") return undefined
  const loose = plain && lines === undefined && !/[/.*?~[\]{}\\]/u.test(path)
  return { kind: "path", source, path, loose, ...lines }
}

/** `#10`, `#10-40`, `#L10-L40`, `#10-`. */
const LINES = /#L?(\d{1,9})(-(?:L?(\d{1,9}))?)?$/u

const splitLines = (name: string): { readonly name: string; readonly lines?: { readonly lines: Lines } } => {
  const match = LINES.exec(name)
  if (match === null) return { name }
  const from = Math.max(1, Number(match[1]))
  const open = match[2] !== undefined && match[3] === undefined
  const through = match[3] === undefined ? from : Math.max(from, Number(match[3]))
  return { name: name.slice(0, match.index), lines: { lines: open ? { from } : { from, through } } }
}

/** Removes marks that end a sentence or a bracket rather than a name. */
const withoutEnding = (word: string): string => {
  if (/^\.{1,2}$/u.test(word)) return word
  const bare = word.replace(/[:!?]+$/u, "").replace(/\.{3,}$|(?<!\.)\.$/u, "")
  return /[)\]}]$/u.test(bare) && !/[([{]/u.test(bare) ? withoutEnding(bare.slice(0, -1)) : bare
}

const unescaped = (word: string): string => word.replaceAll(/\\(.)/gu, "$1")

/** Blanks out code, so that all positions stay the same. Linear in the length of the text. */
const withoutCode = (text: string): string => {
  if (!text.includes("`") && !text.includes("~~~")) return text
  let fence: string | undefined
  return text
    .split("\n")
    .map((line) => {
      const mark = FENCE.exec(line)
      if (fence !== undefined) {
        const [, sign = "", rest = ""] = mark ?? []
        if (sign.startsWith(fence) && rest.trim() === "") fence = undefined
        return " ".repeat(line.length)
      }
      if (mark === null) return withoutInlineCode(line)
      fence = mark[1] ?? ""
      return " ".repeat(line.length)
    })
    .join("\n")
}

/** Three or more marks. No further backtick may follow an opening fence of backticks. */
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)$/u

/** A run of backticks closes at the next run of the same length. */
const withoutInlineCode = (line: string): string => {
  const runs = Array.from(line.matchAll(/`+/gu), ({ index, 0: run }) => ({ index, length: run.length }))
  if (runs.length < 2) return line
  /** For every run, where the next run of the same length is. */
  const next: (number | undefined)[] = []
  const seen = new Map<number, number>()
  for (let at = runs.length - 1; at >= 0; at -= 1) {
    const length = runs[at]?.length ?? 0
    next[at] = seen.get(length)
    seen.set(length, at)
  }
  const pieces: string[] = []
  let written = 0
  for (let at = 0; at < runs.length; at += 1) {
    const [open, close] = [runs[at], runs[next[at] ?? -1]]
    if (open === undefined || close === undefined) continue
    const end = close.index + close.length
    pieces.push(line.slice(written, open.index), " ".repeat(end - open.index))
    written = end
    at = next[at] ?? at
  }
  return pieces.join("") + line.slice(written)
}

export const isGlob = (path: string): boolean => /[*?[\]{}]/u.test(path)
