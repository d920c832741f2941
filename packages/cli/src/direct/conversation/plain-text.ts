/**
 * Text of people, models and tools as a terminal may be shown it: without escape sequences, control characters and marks that
 * turn the direction of writing, which could hide or forge what stands on the screen. Newlines stay. Pure.
 */
import { stripVTControlCharacters } from "node:util"

export const plainText = (text: string): string =>
  stripVTControlCharacters(text)
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll("\t", "    ")
    .replaceAll(UNSAFE, picture)

/** One line of it. */
export const plainLine = (text: string): string =>
  plainText(text)
    .replaceAll(/\s*\n\s*/g, " ")
    .trim()

export interface TextStream {
  readonly push: (piece: string) => string
  /** What was held back at the end. */
  readonly end: () => string
}

/** The same for text that arrives in pieces: what may be the beginning of a sequence waits for the next piece. */
export const openTextStream = (): TextStream => {
  let held = ""
  return {
    push: (piece) => {
      const text = held + piece
      const begun = UNFINISHED.exec(text)?.[0] ?? ""
      held = begun.length > MOST_HELD ? "" : begun
      return plainText(text.slice(0, text.length - held.length))
    },
    end: () => {
      const rest = plainText(held)
      held = ""
      return rest
    },
  }
}

const MOST_HELD = 512

/** Control characters without newline; marks of direction, separators of lines and paragraphs; half characters. */
const UNSAFE = /(?!\n)\p{Cc}|[\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]|\p{Cs}/gu

/** A sequence that is not over, a carriage return whose newline may follow, half a character. */
const UNFINISHED =
  // oxlint-disable-next-line eslint/no-control-regex -- escape sequences are what this is about
  /(?:\u001B(?:\[[0-?]*[ -/]*|[\]PX^_][^\u0007\u001B]*\u001B?)?|\u009B[0-?]*[ -/]*|\r|[\uD800-\uDBFF])$/

const FIRST_PICTURE = 0x2400
const DELETE = 0x7f

/** Unicode has a visible sign for every C0 character; the rest is a replacement mark. */
const picture = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x20) return String.fromCodePoint(FIRST_PICTURE + code)
  return code === DELETE ? "\u2421" : "\uFFFD"
}
