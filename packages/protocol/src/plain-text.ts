/**
 * Makes the text of models, files, tools and people safe to show. Terminal commands are removed. Control characters and
 * direction marks are shown instead of obeyed, so nothing looks like something else. Tabs and newlines stay.
 */
export const plainText = (text: string): string =>
  UNUSUAL.test(text)
    ? text
        .replaceAll(TERMINAL, "")
        .replaceAll(/\r\n?/g, "\n")
        .replaceAll(UNSEEN, (mark) => pictureOf(mark))
    : text

/** The same as one line of at most `most` characters; `…` marks a cut. */
export const oneLine = (text: string, most = Number.POSITIVE_INFINITY): string => {
  // Cut first: collapsing white space may shorten the text, but a huge text must not be scanned for one line.
  const head = most === Number.POSITIVE_INFINITY ? text : text.slice(0, most * 4 + 64)
  const line = plainText(head).replaceAll(/\s+/gu, " ").trim()
  if (line.length <= most && head.length === text.length) return line
  return `${withoutHalf(line.slice(0, most - 1))}…`
}

/** Escapes the same characters in JSON text. It remains the same JSON, and no terminal obeys any of it. */
export const plainJson = (json: string): string =>
  json.replaceAll(UNSEEN, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** A cut must not leave the first half of a character. */
const withoutHalf = (text: string): string => text.replace(/[\ud800-\udbff]$/, "")

/** Almost no text has any of these, so check once before replacing. */
const UNUSUAL = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u

/**
 * Colours, titles and other terminal commands, with 7-bit or 8-bit introducers (ECMA-48). Of an unclosed string only the
 * introducer is removed, because the rest may be text.
 */
const TERMINAL =
  // oxlint-disable-next-line eslint/no-control-regex -- these are what is looked for
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0090-\u009f]*(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]*[0-~]/g

/** Control characters except tab and newline, half characters, line separators, marks of the bidirectional algorithm. */
const UNSEEN =
  // oxlint-disable-next-line eslint/no-control-regex -- these are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]|\p{Cs}|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

const PICTURES = 0x2400

/** The code points from U+2400 on are pictures of the first control characters. */
const pictureOf = (mark: string): string => {
  const code = mark.codePointAt(0) ?? 0
  if (code < 0x20) return String.fromCodePoint(PICTURES + code)
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`
}
