/** What happens on the walk, and when. Both sides read it: the process that walks, and the one that kills it. */

export interface Kill {
  /** During a provider's answer, a summary or a tool, or while the session waits for a limit. */
  readonly where: "request" | "summary" | "tool" | "parked"
  /** From this piece of work on; for `parked`: at this limit. */
  readonly from: number
  /** Every process is gone, and the machine comes back with a new boot. */
  readonly reboot?: true
  /** For how many minutes no process runs. */
  readonly downMinutes: number
}

export interface Limit {
  readonly from: number
  readonly minutes: number
  readonly told: "header" | "date" | "words" | "time of day" | "stream"
}

export interface Walk {
  /** Pieces of work: one tool call each. */
  readonly turns: number
  /** The approximate number of turns between two compactions. */
  readonly compactEvery: number
  readonly kills: readonly Kill[]
  readonly limits: readonly Limit[]
}

/** What a process gets when it starts. */
export interface Leg {
  readonly walk: Walk
  readonly folder: string
  /** Milliseconds since 1970, on the clock of the walk. */
  readonly nowMs: number
  readonly boot: string
  /** The next kill, if any. At that point this process stops and reports it. */
  readonly kill: Kill | undefined
}

/** One line of `requests.jsonl`, written before the answer begins. */
export interface Asked {
  readonly at: number
  readonly kind: "turn" | "summary"
  /** The request contains the whole task. */
  readonly hasTask: boolean
  /** The previous request was a summary that was answered. */
  readonly afterCompaction: boolean
}

/** One line of `limits.jsonl`. */
export interface Refused {
  readonly at: number
  readonly until: number
}

export const TASK = `Move the billing service to the new ledger, one module after the other, and never touch the table of old invoices. ${"Each module keeps its tests; a module whose tests fail is put back as it was before the next one is begun. ".repeat(8)}When every module is moved, write which ones and stop.`

const kill = (where: Kill["where"], from: number, downMinutes = 1): Kill => ({ where, from, downMinutes })

/** A hundred hours: 400 pieces of work, 30 compactions, 5 limits, 10 kills, 2 reboots. */
export const HUNDRED_HOURS: Walk = {
  turns: 400,
  compactEvery: 13,
  kills: [
    kill("tool", 20),
    kill("request", 55),
    kill("tool", 80, 10),
    kill("parked", 1, 30),
    { where: "tool", from: 150, downMinutes: 45, reboot: true },
    kill("summary", 190),
    kill("tool", 205),
    kill("parked", 3, 5),
    { where: "parked", from: 4, downMinutes: 20, reboot: true },
    kill("tool", 300, 2),
    kill("request", 340),
    kill("tool", 385),
  ],
  limits: [
    { from: 60, minutes: 300, told: "header" },
    { from: 110, minutes: 133, told: "words" },
    { from: 220, minutes: 240, told: "date" },
    { from: 280, minutes: 95, told: "time of day" },
    { from: 360, minutes: 300, told: "stream" },
  ],
}

export const SHORT: Walk = {
  turns: 22,
  compactEvery: 6,
  kills: [
    kill("tool", 4),
    kill("parked", 1, 30),
    kill("summary", 8),
    { where: "tool", from: 18, downMinutes: 45, reboot: true },
  ],
  limits: [
    { from: 6, minutes: 60, told: "header" },
    { from: 15, minutes: 43, told: "words" },
  ],
}
