/** The type of a file from its first bytes: undefined for UTF-8 text, a media type for everything else. */
import { signedMediaType } from "@meridian/protocol"

const UNKNOWN = "application/octet-stream"
/** With more control characters than this share, the content is not text. */
const CONTROL_SHARE = 0.3

export const mediaTypeOf = (sample: Buffer, path: string): string | undefined => {
  const known = signedMediaType(sample)
  if (known !== undefined) return known
  if (isText(sample)) return undefined
  return /\.wasm$/i.test(path) ? "application/wasm" : UNKNOWN
}

const isText = (sample: Buffer): boolean => {
  if (sample.includes(0)) return false
  let control = 0
  for (const byte of sample) if (byte < 9 || (byte > 13 && byte < 32 && byte !== 27)) control++
  if (control > sample.length * CONTROL_SHARE) return false
  try {
    // `stream` accepts a character that is cut at the end of the sample, and no other fault.
    new TextDecoder("utf-8", { fatal: true }).decode(sample, { stream: true })
    return true
  } catch {
    return false
  }
}
