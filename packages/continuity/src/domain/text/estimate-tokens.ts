/**
 * Estimates tokens without a tokenizer: UTF-8 bytes divided by four, rounded up. Never below the common `length / 4` rule,
 * and higher for scripts that tokenizers split finely. Budgets are checked against this number.
 */
export const estimateTokens = (text: string): number => Math.ceil(utf8Length(text) / BYTES_PER_TOKEN)

export const BYTES_PER_TOKEN = 4

/** The UTF-8 bytes of a text, counted without encoding it, because pure code has no Buffer. */
export const utf8Length = (text: string): number => {
  let bytes = 0
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) bytes += 1
    else if (unit < 0x800) bytes += 2
    else if (unit >= 0xd800 && unit < 0xdc00 && isLowSurrogate(text.charCodeAt(index + 1))) {
      bytes += 4
      index += 1
    } else bytes += 3
  }
  return bytes
}

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000
