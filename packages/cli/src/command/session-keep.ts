import { copySessions, type Engine } from "@meridian/engine"
import { Failure, oneLine } from "@meridian/protocol"
import { implement, type World } from "@meridian/spaces"

import { findDatabase, openDatabase } from "../engine-database.ts"
import { readSessionName } from "../sessions/session-name.ts"
import { lookWithEngine } from "./look-with-engine.ts"
import { SESSION_ARCHIVE, SESSION_DELETE, SESSION_RENAME } from "./session-keep.meta.ts"

export const sessionRename = implement(SESSION_RENAME, {
  run: ({ session, title, database }, world) =>
    ofEngine(session, database, world, async ({ sessions }) => {
      await sessions.rename({ sessionID: session, title })
      return { session_id: session, title }
    }),
  text: ({ session_id: id, title }) => `Session ${id} is called ${oneLine(title)}.`,
})

export const sessionArchive = implement(SESSION_ARCHIVE, {
  run: async ({ session, undo, to, from, database }, world) => {
    const file = undo ? from : to
    if ((undo ? to : from) !== undefined)
      throw new Failure("USAGE", {
        problem: undo ? "--undo takes a session out of --from, not --to." : "--from goes with --undo.",
        next: "run 'meridian session archive --help'.",
      })
    return file === undefined
      ? putAway({ session, undo, database }, world)
      : moveAway({ session, undo, database, file }, world)
  },
  text: ({ session_id: id, archived, file }) =>
    `Session ${id} is ${archived ? "in the archive" : "out of the archive"}${file === undefined ? "" : `: ${oneLine(file)}`}.`,
})

const putAway = (
  { session, undo, database }: { session: string; undo: boolean; database: string | undefined },
  world: World,
) =>
  ofEngine(session, database, world, async ({ sessions }) => {
    await sessions.archive({ sessionID: session, archived: !undo })
    return { session_id: session, archived: !undo }
  })

/** Whole or not at all: the session is deleted at the source once the copy is there. */
const moveAway = async (
  {
    session,
    undo,
    database,
    file,
  }: { session: string; undo: boolean; database: string | undefined; file: string },
  world: World,
) => {
  refuseOthers(session)
  const here = undo ? (await openDatabase(database, world)).file : findDatabase(database, world)
  const there = undo ? findDatabase(file, world) : (await openDatabase(file, world)).file
  const [moved] = await copySessions({
    from: undo ? there : here,
    to: undo ? here : there,
    sessions: [session],
    move: true,
  })
  if (moved?.outcome instanceof Failure) throw moved.outcome
  return { session_id: session, archived: !undo, file }
}

export const sessionDelete = implement(SESSION_DELETE, {
  run: ({ session, database }, world) =>
    ofEngine(session, database, world, async ({ sessions }) => {
      const { title, seq } = await sessions.get(session)
      const name = title === undefined ? session : `${session} (${oneLine(title)})`
      if (!(await world.confirm(`Delete session ${name} with its ${seq} events for good?`)))
        throw new Failure("USAGE", {
          problem: `Session ${session} was not deleted: the question was not confirmed.`,
          next: "answer the question on a terminal, or give --yes.",
        })
      await sessions.delete(session)
      return { session_id: session, deleted: true }
    }),
  text: ({ session_id: id }) => `Session ${id} is deleted.`,
})

/** Sessions of other harnesses belong to them: we read them and change nothing. */
const ofEngine = <Result>(
  session: string,
  database: string | undefined,
  world: World,
  act: (engine: Engine) => Promise<Result>,
): Promise<Result> => {
  refuseOthers(session)
  return lookWithEngine(database, world, act)
}

const refuseOthers = (session: string): void => {
  const { keeper } = readSessionName(session)
  if (keeper !== "engine")
    throw new Failure("USAGE", {
      problem: `${oneLine(session, 200)} belongs to ${keeper}, and Meridian changes only sessions of its own engine.`,
      next: `use ${keeper} itself, or 'meridian session import' to have a copy here.`,
    })
}
