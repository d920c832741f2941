/** Arrays as parameters. The driver would quote each element, which cost more than anything else about a group of appends. */

export const numberArray = (numbers: readonly (number | null)[]): string =>
  `{${numbers.map((number) => number ?? "NULL").join()}}`

/**
 * In the server's binary form, so that nothing is escaped or parsed. The header: number of dimensions, whether there are
 * nulls, element type, number of elements, first index. Then each text after its length in bytes.
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
