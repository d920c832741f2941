/**
 * Texts as one parameter, the way the server itself writes an array down: length before each, nothing escaped and nothing
 * parsed. A group of appends is mostly quotes, and quoting them again cost more than anything else about it.
 *
 * Header: dimensions, whether there are nulls, the type of an element; then the number of elements and the first index.
 */
export const textArray = (texts: readonly string[]): Buffer => {
  const lengths = texts.map((text) => Buffer.byteLength(text))
  const array = Buffer.allocUnsafe(lengths.reduce((sum, length) => sum + LENGTH_BYTES + length, HEADER_BYTES))
  let at = 0
  const number = (value: number): void => {
    at = array.writeInt32BE(value, at)
  }
  number(1)
  number(0)
  number(TEXT)
  number(texts.length)
  number(1)
  for (const [index, text] of texts.entries()) {
    number(lengths[index] ?? 0)
    at += array.write(text, at)
  }
  return array
}

const TEXT = 25
const LENGTH_BYTES = 4
const HEADER_BYTES = 20
