/** Plain text that arrives in pieces. A possible beginning of an escape sequence waits for the next piece. */
import { plainText } from "./plain-text.ts"

export interface TextStream {
  readonly push: (piece: string) => string
  /** The text that was held back, at the end. */
  readonly end: () => string
}

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

/** An unfinished sequence, a carriage return whose newline may follow, or half a character. */
const UNFINISHED =
  // oxlint-disable-next-line eslint/no-control-regex -- escape sequences are what this is about
  /(?:\u001B(?:\[[0-?]*[ -/]*|[\]PX^_][^\u0007\u001B]*\u001B?)?|\u009B[0-?]*[ -/]*|\r|[\uD800-\uDBFF])$/
