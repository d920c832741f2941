/** The text of a file as a model edits it, and back. Byte order mark and line endings follow the file, not the model. */
import { ToolError } from "../port/tool.ts"

export interface TextFile {
  /** Without the byte order mark, with the original line endings. */
  readonly text: string
  readonly hasMark: boolean
}

const MARK = "\uFEFF"

/** Refuses anything but UTF-8: writing it back would change unrelated bytes. */
export const decodeTextFile = (bytes: Uint8Array, named: string): TextFile => {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
    return text.startsWith(MARK) ? { text: text.slice(1), hasMark: true } : { text, hasMark: false }
  } catch (error) {
    throw new ToolError(
      "failed",
      `${JSON.stringify(named)} is not UTF-8 text; it cannot be edited as text.`,
      {
        cause: error,
      },
    )
  }
}

export const encodeTextFile = (file: TextFile): Buffer =>
  Buffer.from(file.hasMark ? MARK + file.text : file.text)

/** Whether the text has line endings and all of them are CRLF. */
export const usesCarriageReturns = (text: string): boolean =>
  text.includes("\r\n") && !/(^|[^\r])\n/.test(text)

export const withCarriageReturns = (text: string): string =>
  text.replaceAll("\r\n", "\n").replaceAll("\n", "\r\n")

/** Converts a model's text to the line endings of the file. A file with both kinds is taken literally. */
export const lineEndingsOf = (whole: string): ((text: string) => string) => {
  if (usesCarriageReturns(whole)) return withCarriageReturns
  return whole.includes("\r\n") ? (text) => text : (text) => text.replaceAll("\r\n", "\n")
}
