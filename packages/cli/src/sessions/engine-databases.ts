/**
 * Where the engine has databases on this machine: one note for each, in the user's state. Every command that opens a
 * database leaves a note, so that a search finds the sessions of all projects.
 */
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { isAbsolute, join } from "node:path"

import { openPlace, type World } from "@meridian/spaces"

import { stateFolder } from "./harness-places.ts"

type Surroundings = Pick<World, "env" | "cwd">

/** A missing note changes nothing else. */
export const noteEngineDatabase = (database: string, env: World["env"]): void => {
  const folder = notesFolder(env)
  const note = join(folder, createHash("sha256").update(database).digest("hex").slice(0, NAME_LENGTH))
  try {
    if (existsSync(note)) return
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(note, `${database}\n`, { mode: 0o600 })
  } catch {
    return
  }
}

/** Those that exist, with this project's first. */
export const engineDatabases = ({ env, cwd }: Surroundings): readonly string[] => {
  const own = join(openPlace(env, cwd).root, "engine.sqlite")
  return [...new Set([own, ...notedDatabases(env)])].filter((path) => existsSync(path))
}

const NAME_LENGTH = 32
const MOST_NOTES = 10_000
const MOST_CHARACTERS = 4_096

const notesFolder = (env: World["env"]): string => join(stateFolder(env), "engine-databases")

const notedDatabases = (env: World["env"]): readonly string[] => {
  try {
    const folder = notesFolder(env)
    return readdirSync(folder)
      .slice(0, MOST_NOTES)
      .map((name) => readFileSync(join(folder, name), "utf8").slice(0, MOST_CHARACTERS).trimEnd())
      .filter((path) => isAbsolute(path))
  } catch {
    return []
  }
}
