import { fstatSync } from "node:fs"
import type { FileHandle } from "node:fs/promises"

/** The first `most` bytes from `position`, fewer when the file ends; never more in memory than asked for. */
export const readAtMost = async (handle: FileHandle, most: number, position = 0): Promise<Buffer> => {
  const { size } = fstatSync(handle.fd)
  // A little more than the file claims to have, for one that grows and for those in /proc that claim to be empty.
  const room = Math.min(most, Math.max(0, size - position) + 4096)
  // Never from the shared pool: a search gives the memory away to its worker.
  const buffer = Buffer.allocUnsafeSlow(room)
  let filled = 0
  while (filled < room) {
    const { bytesRead } = await handle.read(buffer, filled, room - filled, position + filled)
    if (bytesRead === 0) break
    filled += bytesRead
    // All that was there when we looked: asking once more would only learn the same.
    if (position + filled === size) break
  }
  return buffer.subarray(0, filled)
}
