export type Facts = Readonly<Record<string, string | number>>

/**
 * One way things go wrong: what to tell a reader who cannot see the code. `exit` is the command's exit code, `http` the
 * status of a route; `cause` and `next` are sentences (`next` starts in lower case, it stands behind "Next: ").
 */
export interface FailureEntry {
  readonly exit: number
  readonly http: number
  readonly cause: (facts: Facts) => string
  readonly next: (facts: Facts) => string
}
