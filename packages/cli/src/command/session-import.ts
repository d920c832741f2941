/** `meridian session import`: a conversation held in another harness goes on here. */
import { mkdirSync, statSync } from "node:fs"
import { isAbsolute, join, resolve } from "node:path"

import { openEngine, type ImportResult } from "@meridian/engine"
import { keepOutOfGit } from "@meridian/server"
import { implement, openPlace, type DocumentOf, type World } from "@meridian/spaces"

import { createLosses, type Losses } from "../import/losses.ts"
import { readSessionFile, type SessionFile } from "../import/read-session-file.ts"
import { openSourceFile } from "../import/source-file.ts"
import { SESSION_IMPORT } from "./session.meta.ts"

type Document = DocumentOf<typeof SESSION_IMPORT.output>

export const sessionImport = implement(SESSION_IMPORT, {
  run: async ({ file, database, session, directory }, world) => {
    const path = file === "-" ? file : resolve(world.cwd, file)
    using source = await openSourceFile(path, world.signal)
    const losses = createLosses()
    const read = await readSessionFile(source, file, losses)
    const place = placeOf(read, directory, world)
    if (place.isElsewhere) losses.add("directory")
    const engine = await openEngine({ database: databaseOf(database, world), models: [], recover: false })
    try {
      const imported = await engine.sessions.import(
        {
          ...(session === undefined ? {} : { id: session }),
          location: { directory: place.directory },
          ...(read.about.title === undefined ? {} : { title: titleOf(read.about.title) }),
          ...(read.about.began === undefined ? {} : { began: read.about.began }),
          source: { format: read.format, id: read.about.id, digest: read.digest },
          history: read.history(),
        },
        { signal: world.signal },
      )
      // The command that goes on with a session knows the database of the state folder only.
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

/** Where the session acts: as asked, else where it was, else here. */
const placeOf = (
  { about }: SessionFile,
  asked: string | undefined,
  world: World,
): { readonly directory: string; readonly isElsewhere: boolean } => {
  if (asked !== undefined) return { directory: resolve(world.cwd, asked), isElsewhere: false }
  const { directory } = about
  const isHere =
    directory !== undefined &&
    isAbsolute(directory) &&
    statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true
  return isHere
    ? { directory, isElsewhere: false }
    : { directory: world.cwd, isElsewhere: directory !== undefined }
}

const databaseOf = (asked: string | undefined, { env, cwd }: World): string => {
  if (asked !== undefined) return resolve(cwd, asked)
  const { root } = openPlace(env, cwd)
  mkdirSync(root, { recursive: true })
  keepOutOfGit(root)
  return join(root, "engine.sqlite")
}

const TITLE_CHARACTERS = 100

const titleOf = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ").trim()
  return line.length > TITLE_CHARACTERS ? `${line.slice(0, TITLE_CHARACTERS - 3)}...` : line
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
  losses.add("files", counts.droppedFiles)
  return {
    session_id: session.id,
    imported: created,
    format: read.format,
    source_id: read.about.id,
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
    `${counted}. It works in ${document.directory}.`,
    ...(document.losses.length === 0
      ? ["Nothing was lost."]
      : ["Lost on the way:", ...document.losses.map(({ text }) => `  - ${text}`)]),
    ...(document.continue_command === undefined ? [] : [`Go on with it: ${document.continue_command}`]),
  ].join("\n")
}

const many = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`
