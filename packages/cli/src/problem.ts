/** Turns anything thrown into the one message the reader gets. */
import { Failure, FAILURES } from "@meridian/protocol"
import { Interrupted } from "@meridian/spaces"

export interface Problem {
  readonly code: string
  readonly message: string
  readonly next: string
  readonly exitCode: number
}

export const problemOf = (thrown: unknown): Problem => {
  if (thrown instanceof Failure) return fromFailure(thrown)
  if (thrown instanceof Interrupted) {
    const failure = new Failure("INTERRUPTED", { signal: thrown.signal })
    return { ...fromFailure(failure), exitCode: SIGNAL_EXIT[thrown.signal] }
  }
  const cause = thrown instanceof Error ? thrown : new Error(String(thrown))
  const facts = { cause: onOneLine(cause.message).slice(0, 2000).replace(/\.$/, "") }
  return fromFailure(new Failure("syscall" in cause ? "SYSTEM_ERROR" : "INTERNAL", facts))
}

/** One line: a name with a newline in it must not look like one of our lines. */
export const renderProblem = (problem: Problem): string =>
  onOneLine(`ERROR [${problem.code}]: ${problem.message} Next: ${problem.next}`)

export const problemDocument = ({ code, message, next, exitCode }: Problem): string =>
  JSON.stringify({ error: { code, message, next }, exit_code: exitCode })

const fromFailure = (failure: Failure): Problem => ({
  code: failure.code,
  message: failure.message,
  next: failure.next,
  exitCode: FAILURES[failure.code].exit,
})

const SIGNAL_EXIT = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143, cancelled: 130 } as const

const onOneLine = (text: string): string => text.replaceAll(/\s*[\r\n]+\s*/g, " ")
