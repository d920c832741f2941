export type Facts = Readonly<Record<string, string | number>>

/**
 * One kind of failure, described for a reader who cannot see the code. `exit` is the command's exit code, `http` the status
 * of a route. `cause` and `next` are sentences; `next` starts in lower case, because it follows "Next: ".
 */
export interface FailureEntry {
  readonly exit: number
  readonly http: number
  readonly cause: (facts: Facts) => string
  readonly next: (facts: Facts) => string
}
