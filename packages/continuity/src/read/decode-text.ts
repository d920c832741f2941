/**
 * Decodes the bytes of a file into lines of text, or refuses them as binary. UTF-8 with or without a byte order mark;
 * UTF-16 in both orders with its mark (without one it is full of zero bytes, and refused). Line ends become `\n`, a line
 * longer than the cap is cut, and lines beyond their cap are left out. Linear.
 */
export interface LineCaps {
  readonly lineLength: number
  readonly fileLines: number
  /** Which lines stay when there are too many. */
  readonly keep: FilePart
}

/** Its beginning, its end, or half of each. */
export type FilePart = "head" | "tail" | "ends"

export type Decoded =
  | { readonly kind: "text"; readonly text: string; readonly cut: boolean }
  | { readonly kind: "binary" }

export const decodeText = (bytes: Uint8Array, caps: LineCaps): Decoded => {
  const text = decode(bytes)
  if (text === undefined) return { kind: "binary" }
  return cutLines(text.replaceAll("\r\n", "\n").replaceAll("\r", "\n"), caps)
}

const decode = (bytes: Uint8Array): string | undefined => {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return readUtf16(bytes.subarray(2))
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return readUtf16(swapped(bytes.subarray(2)))
  if (bytes.includes(0)) return undefined
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  // `stream` drops a character that the size cap has cut.
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(marked ? bytes.subarray(3) : bytes, {
    stream: true,
  })
  return isMostlyUnreadable(text) ? undefined : text
}

const readUtf16 = (bytes: Uint8Array): string | undefined => {
  const text = new TextDecoder("utf-16le", { ignoreBOM: true }).decode(bytes, { stream: true })
  return text.includes("\0") || isMostlyUnreadable(text) ? undefined : text
}

const swapped = (bytes: Uint8Array): Uint8Array => {
  const copy = new Uint8Array(bytes.length - (bytes.length % 2))
  for (let index = 0; index < copy.length; index += 2) {
    copy[index] = bytes[index + 1] ?? 0
    copy[index + 1] = bytes[index] ?? 0
  }
  return copy
}

/** One undecodable character in ten: an old one-byte encoding stays below that, compressed data does not. */
const isMostlyUnreadable = (text: string): boolean => {
  let unreadable = 0
  for (let at = text.indexOf("\ufffd"); at !== -1; at = text.indexOf("\ufffd", at + 1)) unreadable += 1
  return unreadable * 10 > text.length
}

const cutLines = (text: string, { lineLength, fileLines, keep }: LineCaps): Decoded => {
  const pieces = keepLines(text, fileLines, keep)
  const kept = pieces.map((piece) => shortenLines(piece, lineLength)).join("\n")
  return { kind: "text", text: kept, cut: kept.length < text.length }
}

/** Without splitting: a file may have a hundred times more lines than are kept. */
const keepLines = (text: string, count: number, keep: FilePart): readonly string[] => {
  if (keep === "head") return [text.slice(0, endOfHead(text, count))]
  if (keep === "tail") return [text.slice(startOfTail(text, count))]
  const half = Math.floor(count / 2)
  const end = endOfHead(text, half)
  const start = startOfTail(text, half)
  return start <= end + 1 ? [text] : [text.slice(0, end), text.slice(start)]
}

/** The position of the line break after `count` lines. */
const endOfHead = (text: string, count: number): number => {
  let at = -1
  for (let line = 0; line < count; line += 1) {
    at = text.indexOf("\n", at + 1)
    if (at === -1) return text.length
  }
  return at
}

/** Where the last `count` lines begin. */
const startOfTail = (text: string, count: number): number => {
  let at = text.length
  for (let line = 0; line < count; line += 1) {
    at = at === 0 ? -1 : text.lastIndexOf("\n", at - 1)
    if (at === -1) return 0
  }
  return at + 1
}

const shortenLines = (text: string, lineLength: number): string => {
  if (text.length <= lineLength) return text
  const lines = text.split("\n")
  return lines.some((line) => line.length > lineLength)
    ? lines.map((line) => line.slice(0, lineLength)).join("\n")
    : text
}
