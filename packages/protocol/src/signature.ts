/** The type of a file from its first bytes. Undefined when the format is unknown. */
const SIGNATURES: readonly (readonly [type: string, at: number, bytes: readonly number[]])[] = [
  ["image/png", 0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ["image/jpeg", 0, [0xff, 0xd8, 0xff]],
  ["image/gif", 0, [0x47, 0x49, 0x46, 0x38]],
  ["image/webp", 8, [0x57, 0x45, 0x42, 0x50]],
  ["application/pdf", 0, [0x25, 0x50, 0x44, 0x46, 0x2d]],
  ["application/zip", 0, [0x50, 0x4b, 0x03, 0x04]],
  ["application/gzip", 0, [0x1f, 0x8b]],
]

export const signedMediaType = (start: Uint8Array): string | undefined =>
  SIGNATURES.find(([, at, bytes]) => bytes.every((byte, index) => start[at + index] === byte))?.[0]
