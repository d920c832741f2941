/** The total bytes of bodies that are arriving: many large ones at once must not fill the memory. */
export interface Incoming {
  /** False when there is no room for this many more bytes. */
  readonly take: (bytes: number) => boolean
  readonly give: (bytes: number) => void
}

export const makeIncoming = (most: number): Incoming => {
  let used = 0
  return {
    take: (bytes) => {
      if (used + bytes > most) return false
      used += bytes
      return true
    },
    give: (bytes) => {
      used -= bytes
    },
  }
}
