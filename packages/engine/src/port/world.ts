/** Time, chance and names come in from outside, so that a test can decide them. */
export interface World {
  /** Milliseconds since the epoch; may jump. Only ever written down, never compared. */
  readonly now: () => number
  /** Milliseconds from an arbitrary start; never goes back. */
  readonly monotonic: () => number
  /** In [0, 1). */
  readonly chance: () => number
  /** A new id that starts with the prefix. */
  readonly id: (prefix: string) => string
  /** Calls again and again until stopped; does not keep the process alive. */
  readonly every: (ms: number, tick: () => void) => () => void
  /** This process, in a form that another one can check for life. */
  readonly identity: () => ProcessIdentity
  /** Whether the process behind an identity is certainly gone. */
  readonly isGone: (identity: ProcessIdentity) => boolean
}

export interface ProcessIdentity {
  readonly pid: number
  /** When it started, in the words of the system: a pid may be used again. */
  readonly started: string
  /** Which boot of which machine: processes of another one are never judged by pid. */
  readonly boot: string
}
