/** Ids that sort by creation within a process: milliseconds, a counter, then random digits. */
import { randomFillSync } from "node:crypto"

import type { Ids } from "./port/ids.ts"

export const openIds = (now: () => number): Ids["Service"] => {
  const chance = openChance()
  let last = 0
  let counter = 0
  return {
    next: (prefix) => {
      const time = now()
      counter = time === last ? counter + 1 : 0
      last = time
      return `${prefix}${(time * 4096 + (counter % 4096)).toString(16).padStart(14, "0")}${chance(ID_BYTES)}`
    },
  }
}

const ID_BYTES = 9

/** Random hexadecimal digits from a pool: asking the system for nine bytes costs more than the rest of an id. */
const openChance = () => {
  const pool = Buffer.alloc(ID_BYTES * 256)
  let used = pool.length
  return (bytes: number): string => {
    if (used + bytes > pool.length) {
      randomFillSync(pool)
      used = 0
    }
    used += bytes
    return pool.toString("hex", used - bytes, used)
  }
}
