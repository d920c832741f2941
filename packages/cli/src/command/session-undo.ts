import { isInside } from "@meridian/continuity/files"
import { openEngine, type Engine, type UndoResult } from "@meridian/engine"
import { Failure, oneLine, type TypeOf } from "@meridian/protocol"
import { implement, judgeDatabase, type World } from "@meridian/spaces"

import { findDatabase } from "../engine-database.ts"
import { readSessionName } from "../sessions/session-name.ts"
import { SESSION_FILES, SESSION_FORK, SESSION_REDO, SESSION_UNDO } from "./session-undo.meta.ts"

export const sessionUndo = implement(SESSION_UNDO, {
  run: ({ session, count = 1, files, conversation, database }, world) => {
    if (count < 1)
      throw new Failure("USAGE", {
        problem: "At least one prompt must be taken back.",
        next: "give 1 or more.",
      })
    // Each flag alone limits the undo; both together mean both.
    const what = { conversation: conversation || !files, files: files || !conversation }
    return atWork(session, database, world, async (engine) => {
      const undo = (overwrite: boolean) =>
        engine.sessions.undo({ sessionID: session, count, ...what, overwrite })
      return documentOf(session, await askFirst(undo, world))
    })
  },
  text: (undone) => undoneText(undone, "Taken back"),
})

export const sessionRedo = implement(SESSION_REDO, {
  run: ({ session, database }, world) =>
    atWork(session, database, world, async (engine) => {
      const redo = (overwrite: boolean) => engine.sessions.redo({ sessionID: session, overwrite })
      return documentOf(session, await askFirst(redo, world))
    }),
  text: (undone) => undoneText(undone, "Brought back"),
})

export const sessionFiles = implement(SESSION_FILES, {
  run: ({ session, at, diff, stat, database }, world) =>
    atWork(session, database, world, async ({ sessions }) => {
      const form = stat ? ("stat" as const) : ("patch" as const)
      const shown = await sessions.files({
        sessionID: session,
        ...(at === undefined ? {} : { at }),
        ...(diff || stat ? { diff: form } : {}),
      })
      const { id, text, number } = shown.prompt
      return {
        session_id: session,
        prompt: { number, message_id: id, text },
        files: [...shown.files],
        missed: [...shown.missed],
        skipped: [...shown.skipped],
        ...(shown.diff === undefined ? {} : { diff: shown.diff }),
      }
    }),
  text: ({ prompt, files, missed, skipped, diff }) =>
    [
      `Prompt ${prompt.number}: ${oneLine(prompt.text, 200)}`,
      ...(diff === undefined ? fileRows(files) : [diff.trimEnd()]),
      ...(files.length === 0 && missed.length === 0 ? ["It changed no file that is kept."] : []),
      ...missed.map((reason) => `Not known for some turn: ${oneLine(reason)}.`),
      ...skipped.map((path) => `Not kept: ${oneLine(path)}`),
    ].join("\n"),
})

export const sessionFork = implement(SESSION_FORK, {
  run: ({ session, at, files, id, database }, world) =>
    atWork(session, database, world, async ({ sessions }) => {
      const fork = (overwrite: boolean) =>
        sessions.fork({
          sessionID: session,
          ...(at === undefined ? {} : { at }),
          ...(id === undefined ? {} : { id }),
          files,
          overwrite,
        })
      const made = await askFirst(fork, world)
      return { session_id: made.id, from: session }
    }),
  text: ({ session_id: id, from }) => `Session ${id} has the past of ${from}.`,
})

/** Names the files that were changed since, before asking whether they may be overwritten. */
const askFirst = async <Answer>(
  act: (overwrite: boolean) => Promise<Answer>,
  world: World,
): Promise<Answer> => {
  try {
    return await act(false)
  } catch (error) {
    if (!(error instanceof Failure && error.code === "FILES_CHANGED")) throw error
    if (!(await world.confirm(`${error.message} Overwrite them?`))) throw error
    return await act(true)
  }
}

/** An engine that holds sessions and runs none. */
const atWork = async <Result>(
  session: string,
  file: string | undefined,
  world: World,
  act: (engine: Engine) => Promise<Result>,
): Promise<Result> => {
  const { keeper } = readSessionName(session)
  if (keeper !== "engine")
    throw new Failure("USAGE", {
      problem: `${oneLine(session, 200)} belongs to ${keeper}, and only sessions of Meridian's own engine can be taken back.`,
      next: `use ${keeper} itself, or 'meridian session import' to have a copy here.`,
    })
  const database = findDatabase(file, world)
  const engine = await openEngine({ database, models: [], recover: false })
  try {
    const { location } = await engine.sessions.get(session)
    // A database from elsewhere may name any place of this machine.
    if (judgeDatabase(database, world) === "foreign" && !isInside(world.cwd, location.directory))
      throw new Failure("USAGE", {
        problem: `The database came from somewhere else, and its session works in ${oneLine(location.directory)}.`,
        next: "run the command in that folder if you mean it.",
      })
    return await act(engine)
  } finally {
    await engine.close()
  }
}

const documentOf = (session: string, { prompts, conversation, files, left, missed }: UndoResult) => ({
  session_id: session,
  prompts: prompts.map(({ id, text }) => ({ message_id: id, text })),
  conversation,
  files: [...files],
  left: [...left],
  missed: [...missed],
})

const undoneText = (
  { prompts, conversation, files, left, missed }: TypeOf<typeof SESSION_UNDO.output>,
  what: string,
): string =>
  [
    ...(conversation ? prompts.map(({ text }) => `${what}: ${oneLine(text, 200)}`) : []),
    ...(files.length === 0 ? ["No file changed."] : fileRows(files)),
    ...left.map((path) => `Stays as it is, because it was changed since: ${oneLine(path)}`),
    ...missed.map((reason) => `Stays as it is: ${oneLine(reason)}.`),
  ].join("\n")

const MARKS = { added: "A", changed: "M", removed: "D" } as const

const fileRows = (files: readonly { readonly path: string; readonly change: keyof typeof MARKS }[]) =>
  files.map(({ path, change }) => `${MARKS[change]} ${oneLine(path)}`)
