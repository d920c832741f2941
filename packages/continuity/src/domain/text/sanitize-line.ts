/**
 * Turns outside text into one inert line. A project's files may imitate our headings, open a comment that swallows the
 * rest, or hide orders in invisible characters. After this the text can only be one bullet.
 *
 * Idempotent: a clean line stays unchanged. Linear: every pattern is a character class or anchored at the start.
 */
import { TEXT_LIMITS } from "../limits.ts"

export const sanitizeLine = (text: string, maxLength: number = TEXT_LIMITS.bulletLength): string => {
  if (text.length <= maxLength && PLAIN.test(text) && !text.includes("  ") && !text.startsWith("```"))
    return text.trimEnd()
  return cutLine(escapeStart(cleanLine(text, maxLength)), maxLength)
}

/** One line of somebody's words after a quote sign: as spoken, except for anything that could pass as another role. */
export const quoteLine = (text: string, maxLength: number): string =>
  cutLine(cleanLine(text, maxLength), maxLength)

const cleanLine = (text: string, maxLength: number): string => {
  // Cut before cleaning, so that a huge text is not cleaned completely. Cleaning only shortens, except for one escape.
  const head = text.length > maxLength * 4 ? text.slice(0, maxLength * 4) : text
  return head
    .replace(INVISIBLE, "")
    .replace(BREAKING, " ")
    .replace(/ {2,}/g, " ")
    .trim()
    .toWellFormed()
    .replaceAll("<!--", "‹!--")
    .replace(ROLE_TAG, "‹$1")
}

/** Shortens to a length, in whole characters, and marks the cut with an ellipsis. */
export const cutLine = (line: string, maxLength: number): string => {
  if (line.length <= maxLength) return line
  const end = Math.max(0, maxLength - 1)
  const whole = isHighSurrogate(line.charCodeAt(end - 1)) ? end - 1 : end
  return `${line.slice(0, whole).trimEnd()}…`
}

/** Most lines: first a letter or a back-tick, then characters that need no cleaning. */
const PLAIN = /^[A-Za-z`(][\x20-;=-~\u00a1-\u00ac\u00ae-\u052f\u2010-\u2026]*$/

/** Every line end of any kind, and every blank other than a plain space. */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const BREAKING = /[\t\n\v\f\r\x85\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/g

/**
 * Control characters, bidi marks, zero-width characters, soft hyphens, language tags. Joiners stay, because scripts and
 * emoji need them.
 */
const INVISIBLE =
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  /[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu

/** Tags with which a host or a model marks the speaker. */
const ROLE_TAG =
  /<(\/?(?:system|user|assistant|human|developer|tool|function|instructions?|important)[a-z_-]{0,24}[\s>/])/gi

/** Markdown that opens a block at the start of a line, even inside a list item. */
const BLOCK_START = /^(?:#|>|\||```|~~~|={2,}|[-*_](?: ?[-*_]){2}|[-*+](?: |$)|<[a-z!/?])/i

const NUMBERED_START = /^(\d{1,9})([.)])(?= |$)/

const escapeStart = (line: string): string =>
  BLOCK_START.test(line) ? `\\${line}` : line.replace(NUMBERED_START, String.raw`$1\$2`)

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00
