/**
 * Estimates the tokens of a text without a tokenizer, by kind of character: a token is about four Latin letters, but often
 * one whole Chinese character. The weights are means over the fixtures in `tokens.test.ts`. The provider's reports correct
 * the remaining error (see `budget.ts`).
 */
import type { PromptFile, RecordedContent } from "@meridian/protocol"

/** Tokens per character. */
const WEIGHTS = {
  /** a-z, A-Z */
  letter: 0.225,
  digit: 0.9,
  space: 0.07,
  /** Brackets, quotes, operators: common in code, and often a token each. */
  sign: 0.5,
  newline: 0.8,
  /** Latin with diacritics, Greek, Cyrillic. */
  alphabet: 0.31,
  /** Arabic, Hebrew, Indic and other scripts with few shared tokens. */
  script: 0.37,
  /** Chinese, Japanese, Korean. */
  ideograph: 0.77,
  /** Emoji and the rest beyond the basic plane, per UTF-16 unit. */
  rare: 1.1,
} as const

export const estimateText = (text: string): number => {
  let tokens = 0
  for (let index = 0; index < text.length; index += 1) tokens += weightOf(text.charCodeAt(index))
  return Math.ceil(tokens)
}

const weightOf = (code: number): number => {
  if (code < 128) return ASCII[code] ?? WEIGHTS.sign
  if (code < 0x0530) return WEIGHTS.alphabet
  if (code < 0x1100) return WEIGHTS.script
  if (code < 0x2e80) return code < 0x1200 ? WEIGHTS.ideograph : WEIGHTS.alphabet
  if (code < 0xd800) return WEIGHTS.ideograph
  if (code < 0xe000) return WEIGHTS.rare
  return WEIGHTS.ideograph
}

const ASCII: readonly number[] = Array.from({ length: 128 }, (_unused, code) => {
  if ((code >= 97 && code <= 122) || (code >= 65 && code <= 90)) return WEIGHTS.letter
  if (code >= 48 && code <= 57) return WEIGHTS.digit
  if (code === 32 || code === 9) return WEIGHTS.space
  if (code === 10 || code === 13) return WEIGHTS.newline
  return WEIGHTS.sign
})

/** Providers scale images to about this. A document costs by its length. */
const IMAGE_TOKENS = 1_600
const DOCUMENT_BYTES_PER_TOKEN = 24

export const estimateMedia = (mediaType: string, base64: string): number =>
  mediaType.startsWith("image/")
    ? IMAGE_TOKENS
    : Math.max(IMAGE_TOKENS, Math.ceil((base64.length * 0.75) / DOCUMENT_BYTES_PER_TOKEN))

export const estimateFiles = (files: readonly PromptFile[]): number =>
  files.reduce((sum, file) => sum + estimateMedia(file.mediaType, file.base64), 0)

export const estimateContent = (content: readonly RecordedContent[]): number => {
  let tokens = 0
  for (const part of content)
    tokens += part.type === "text" ? estimateText(part.text) : estimateMedia(part.mediaType, part.base64)
  return tokens
}
