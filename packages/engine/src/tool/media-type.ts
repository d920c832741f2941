/** What a file is by its first bytes: undefined for UTF-8 text, a media type for everything else. */
const SIGNATURES: readonly (readonly [type: string, at: number, bytes: readonly number[]])[] = [
  ["image/png", 0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ["image/jpeg", 0, [0xff, 0xd8, 0xff]],
  ["image/gif", 0, [0x47, 0x49, 0x46, 0x38]],
  ["image/webp", 8, [0x57, 0x45, 0x42, 0x50]],
  ["application/pdf", 0, [0x25, 0x50, 0x44, 0x46, 0x2d]],
  ["application/zip", 0, [0x50, 0x4b, 0x03, 0x04]],
  ["application/gzip", 0, [0x1f, 0x8b]],
]
const UNKNOWN = "application/octet-stream"
/** More control characters than this share is not text anyone wrote. */
const CONTROL_SHARE = 0.3

export const mediaTypeOf = (sample: Buffer, path: string): string | undefined => {
  const known = SIGNATURES.find(([, at, bytes]) => bytes.every((byte, index) => sample[at + index] === byte))
  if (known !== undefined) return known[0]
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
