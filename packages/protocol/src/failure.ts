/**
 * The only catalogue of failures. It provides the command's exit code, the HTTP status, the MCP text and the rows of
 * `docs/reference/errors.md`. An answer (a missing value, a conflict as a decision) is not a failure. Neither is a bug,
 * which is an Error without a code.
 */
import { CONTINUITY_FAILURES } from "./failure/continuity.ts"
import { DIRECT_FAILURES } from "./failure/direct.ts"
import { DOORS_FAILURES } from "./failure/doors.ts"
import { ENGINE_FAILURES } from "./failure/engine.ts"
import type { Facts, FailureEntry } from "./failure/entry.ts"
import { HANDS_FAILURES } from "./failure/hands.ts"
import { RUN_FAILURES } from "./failure/runs.ts"
import { SERVER_FAILURES } from "./failure/server.ts"
import { SPACES_FAILURES } from "./failure/spaces.ts"
import { UNDO_FAILURES } from "./failure/undo.ts"

export type { Facts, FailureEntry } from "./failure/entry.ts"

export const FAILURES = {
  ...ENGINE_FAILURES,
  ...DIRECT_FAILURES,
  ...SPACES_FAILURES,
  ...RUN_FAILURES,
  ...CONTINUITY_FAILURES,
  ...SERVER_FAILURES,
  ...DOORS_FAILURES,
  ...HANDS_FAILURES,
  ...UNDO_FAILURES,
}

export type FailureCode = keyof typeof FAILURES

const entryOf = (code: FailureCode): FailureEntry => FAILURES[code]

/** An operating failure: expected in general, but not at this point. Carries its own way out. */
export class Failure extends Error {
  override readonly name = "Failure"
  /** Lets Effect code catch it by tag. */
  readonly _tag = "Failure"
  readonly code: FailureCode
  readonly facts: Facts

  constructor(code: FailureCode, facts: Facts = {}, options?: ErrorOptions) {
    super(entryOf(code).cause(facts), options)
    this.code = code
    this.facts = facts
  }

  /** What the reader can do now, without the leading "Next: ". */
  get next(): string {
    return entryOf(this.code).next(this.facts)
  }
}

export const renderFailure = (failure: Failure): string =>
  `ERROR [${failure.code}]: ${failure.message} Next: ${failure.next}`
