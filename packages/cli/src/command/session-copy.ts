/** `meridian session copy`: between files and servers, in any direction. */
import { copySessions } from "@meridian/engine"
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
    if (source === target) throw usage("Both databases are the same.", "name another with --to.")
    const copied = await copySessions({
      from: source,
      to: target,
      move,
      ...(all ? {} : { sessions: [...new Set(sessions)] }),
    })
    return {
      sessions: copied.map(({ session, outcome }) => ({ session_id: session, outcome })),
    }
  },
  text: ({ sessions }) =>
    sessions.length === 0
      ? "There is nothing to copy."
      : sessions
          .map(({ session_id: id, outcome }) => `${outcome === "copied" ? "copied" : "was there"}  ${id}`)
          .join("\n"),
})

const usage = (problem: string, next: string): Failure => new Failure("USAGE", { problem, next })
