import { fstatSync } from "node:fs"
import type { FileHandle } from "node:fs/promises"

/** The first `most` bytes from `position`, fewer when the file ends. Never holds more in memory than requested. */
export const readAtMost = async (handle: FileHandle, most: number, position = 0): Promise<Buffer> => {
  const { size } = fstatSync(handle.fd)
  // A little more than the reported size, for files that grow and for files in /proc that report zero.
  const room = Math.min(most, Math.max(0, size - position) + 4096)
  // Not from the shared pool, because a search transfers the memory to its worker.
  const buffer = Buffer.allocUnsafeSlow(room)
  let filled = 0
  while (filled < room) {
    const { bytesRead } = await handle.read(buffer, filled, room - filled, position + filled)
    if (bytesRead === 0) break
    filled += bytesRead
    // All of the reported size is read. Another read would return nothing.
    if (position + filled === size) break
  }
  return buffer.subarray(0, filled)
}
