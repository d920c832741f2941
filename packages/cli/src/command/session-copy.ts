/** `meridian session copy`: between files and servers, in any direction. */
import { copySessions, type CopiedSession } from "@meridian/engine"
import { Failure } from "@meridian/protocol"
import { implement } from "@meridian/spaces"

import { findDatabase, openDatabase } from "../engine-database.ts"
import { SESSION_COPY } from "./session-copy.meta.ts"

export const sessionCopy = implement(SESSION_COPY, {
  run: async ({ sessions, all, to, from, move }, world) => {
    if (to === undefined && from === undefined)
      throw usage("'session copy' needs a second database.", "name it with --to, or with --from.")
    if (all === sessions.length > 0)
      throw usage("'session copy' takes ids or --all.", "run 'meridian session list' to see the ids.")
    const source = findDatabase(from, world)
    const { file: target } = await openDatabase(to, world)
    const copied = await copySessions({
      from: source,
      to: target,
      move,
      ...(all ? {} : { sessions: [...new Set(sessions)] }),
    })
    const [first] = copied
    if (first?.outcome instanceof Failure && copied.length === 1) throw first.outcome
    return { sessions: copied.map(document) }
  },
  exitCode: ({ sessions }) => (sessions.some(({ outcome }) => outcome === "failed") ? 1 : 0),
  text: ({ sessions }) =>
    sessions.length === 0
      ? "There is nothing to copy."
      : sessions
          .map(({ session_id: id, outcome, error }) =>
            error === undefined
              ? `${SAID[outcome]}  ${id}`
              : `${SAID[outcome]}  ${id}: [${error.code}] ${error.message}`,
          )
          .join("\n"),
})

const SAID = { copied: "copied", there: "was there", failed: "not copied" } as const

const document = ({ session, outcome }: CopiedSession) =>
  outcome instanceof Failure
    ? {
        session_id: session,
        outcome: "failed" as const,
        error: { code: outcome.code, message: outcome.message },
      }
    : { session_id: session, outcome }

const usage = (problem: string, next: string): Failure => new Failure("USAGE", { problem, next })
