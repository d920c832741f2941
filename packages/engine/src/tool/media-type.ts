/** What a file is by its first bytes: undefined for UTF-8 text, a media type for everything else. */
import { signedMediaType } from "@meridian/protocol"

const UNKNOWN = "application/octet-stream"
/** More control characters than this share is not text anyone wrote. */
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
    // `stream` forgives a character torn by the end of the sample, nothing else.
    new TextDecoder("utf-8", { fatal: true }).decode(sample, { stream: true })
    return true
  } catch {
    return false
  }
}
