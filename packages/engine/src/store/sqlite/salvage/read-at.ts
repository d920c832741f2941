import { readSync } from "node:fs"

/** Reads the bytes that are there. A place that the disk cannot read is empty. */
export const readAt = (descriptor: number, position: number, length: number): Buffer => {
  const bytes = Buffer.alloc(length)
  try {
    return bytes.subarray(0, readSync(descriptor, bytes, 0, length, position))
  } catch {
    return bytes.subarray(0, 0)
  }
}
