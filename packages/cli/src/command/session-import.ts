/** `meridian session import`: continues a conversation from another harness here. */
import { existsSync, statSync } from "node:fs"
import { isAbsolute, resolve } from "node:path"

import { createLosses, cutText, type Losses } from "@meridian/continuity"
import { openEngine, type ImportResult } from "@meridian/engine"
import { Failure, oneLine, type TypeOf } from "@meridian/protocol"
import { implement, openPlace, type World } from "@meridian/spaces"

import { openDatabase } from "../engine-database.ts"
import { readSessionFile, type SessionFile } from "../import/read-session-file.ts"
import { nameOfSource, openSourceFile } from "../import/source-file.ts"
import { fileOfSession } from "../sessions/open-conversation.ts"
import { readSessionName } from "../sessions/session-name.ts"
import { SESSION_IMPORT } from "./session.meta.ts"

type Document = TypeOf<typeof SESSION_IMPORT.output>

export const sessionImport = implement(SESSION_IMPORT, {
  run: async ({ file, database, session, directory }, world) => {
    if (directory === "")
      throw new Failure("USAGE", { problem: "--directory is empty.", next: "name a directory." })
    const path = pathOf(file, world)
    using source = await openSourceFile(path, world.signal)
    const losses = createLosses()
    const read = await readSessionFile(source, nameOfSource(path), losses)
    const place = placeOf(read, directory, world)
    if (place.isLost) losses.add("directory")
    const { file: own } = await openDatabase(database, world)
    const engine = await openEngine({ database: own, models: [], recover: false, worker: false })
    try {
      const imported = await engine.sessions.import(
        {
          ...(session === undefined ? {} : { id: session }),
          location: { directory: place.directory },
          ...(read.about.title === undefined ? {} : { title: shortLine(read.about.title, TITLE_CHARACTERS) }),
          ...(read.about.began === undefined ? {} : { began: read.about.began }),
          source: { format: read.format, id: read.about.id, digest: read.digest },
          history: read.history(),
        },
        { signal: world.signal },
      )
      // The command that continues a session only knows the database of the state folder.
      const command = `meridian direct --continue ${imported.session.id}`
      return {
        ...toDocument(read, imported, losses),
        ...(database === undefined ? { continue_command: command } : {}),
      }
    } finally {
      await engine.close()
    }
  },
  text: (document) => tell(document),
})

/** An existing file, or a session by its name in search. */
const pathOf = (file: string, { cwd, env }: World): string => {
  if (file === "-") return file
  const path = resolve(cwd, file)
  return existsSync(path) ? path : (fileOfSession(readSessionName(file), env) ?? path)
}

/**
 * Where the session acts: the requested folder, else this project. The file's own folder was true elsewhere and
 * decides nothing.
 */
const placeOf = (
  { about }: SessionFile,
  asked: string | undefined,
  world: World,
): { readonly directory: string; readonly isLost: boolean } => {
  if (asked !== undefined) return { directory: resolve(world.cwd, asked), isLost: false }
  const { directory } = about
  const isHere =
    directory === undefined ||
    (isAbsolute(directory) && statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true)
  return { directory: openPlace(world.env, world.cwd).project, isLost: !isHere }
}

const TITLE_CHARACTERS = 100
const SOURCE_ID_CHARACTERS = 200

/** A file's words about itself, safe for a terminal: one short line. */
const shortLine = (text: string, most: number): string => {
  // Cut first, so that a huge text is not cleaned whole.
  const line = oneLine(text.slice(0, most * 10))
  return line.length <= most ? line : `${cutText(line, most - 3)}...`
}

const NAMES = { claude: "Claude Code", codex: "Codex", opencode: "OpenCode", pi: "pi" } as const

const toDocument = (
  read: SessionFile,
  { session, created, counts }: ImportResult,
  losses: Losses,
): Document => {
  losses.add("start", counts.missingStart)
  losses.add("unanswered", counts.unanswered)
  losses.add("strayResults", counts.strayResults)
  losses.add("cutTexts", counts.cutTexts)
  losses.add("mendedTexts", counts.mendedTexts)
  losses.add("files", counts.droppedFiles)
  losses.add("failedFiles", counts.failedFiles)
  losses.add("deepInputs", counts.deepInputs)
  return {
    session_id: session.id,
    imported: created,
    format: read.format,
    source_id: shortLine(read.about.id, SOURCE_ID_CHARACTERS),
    directory: session.location.directory,
    ...(session.title === undefined ? {} : { title: session.title }),
    events: session.seq,
    prompts: counts.prompts,
    turns: counts.turns,
    tools: counts.tools,
    compactions: counts.compactions,
    losses: losses.list().map(({ kind, count, text }) => ({ kind, count, text })),
  }
}

const tell = (document: Document): string => {
  const name = Object.entries(NAMES).find(([format]) => format === document.format)?.[1] ?? document.format
  const counted = [
    many(document.prompts, "prompt"),
    many(document.turns, "turn"),
    many(document.tools, "tool call"),
    ...(document.compactions === 0 ? [] : [many(document.compactions, "compaction")]),
  ].join(", ")
  return [
    `${document.imported ? "Imported" : "Already imported"} ${name} session ${document.source_id} as ${document.session_id}.`,
    `${counted}. It works in ${oneLine(document.directory)}.`,
    ...(document.losses.length === 0
      ? ["Nothing was lost."]
      : ["Lost on the way:", ...document.losses.map(({ text }) => `  - ${text}`)]),
    ...(document.continue_command === undefined ? [] : [`Go on with it: ${document.continue_command}`]),
  ].join("\n")
}

const many = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`
