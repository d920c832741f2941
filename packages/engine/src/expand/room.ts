/** How much room is left in a prompt for what it names. */
import type { PromptPart } from "@meridian/protocol"

import { EXPAND_LIMITS } from "./limits.ts"

export interface Room {
  /** How many more things fit. */
  readonly things: () => number
  /** Returns the part, or a note that there is no room for it. */
  readonly take: (part: PromptPart) => PromptPart
}

export const openRoom = (spareBytes: number): Room => {
  let things: number = EXPAND_LIMITS.things
  let textBytes: number = EXPAND_LIMITS.textBytes
  let mediaBytes: number = EXPAND_LIMITS.mediaBytes
  let spare = spareBytes
  return {
    things: () => things,
    take: (part) => {
      if (part.type === "unreadable") return part
      const size = part.type === "text" ? Buffer.byteLength(part.text) : part.base64.length
      const text = part.type === "text" ? size : 0
      const media = part.type === "media" ? Math.ceil((size * 3) / 4) : 0
      if (things === 0 || text > textBytes || media > mediaBytes || size > spare)
        return {
          type: "unreadable",
          source: part.source,
          problem: `${part.name} is left out: one prompt brings at most ${EXPAND_LIMITS.things} files, ${EXPAND_LIMITS.textBytes / 1024} KiB of text and ${EXPAND_LIMITS.mediaBytes / 1024 / 1024} MiB of images along. Read it with a tool.`,
        }
      things -= 1
      textBytes -= text
      mediaBytes -= media
      spare -= size
      return part
    },
  }
}
