/**
 * In debug mode the plugin keeps what it last put into requests, for `meridian brief --injected`: one small file in the
 * user's state folder, `{ "version": 1, "entries": [{ at, directory, session, request, texts }] }`, newest last.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

import type { Place } from "@meridian/continuity"

import { listField } from "./field.ts"
import type { Options } from "./options.ts"
import type { World } from "./world.ts"

export interface InjectedRecord {
  readonly keep: (session: string, request: "main request" | "compaction", texts: readonly string[]) => void
}

const KEPT_ENTRIES = 20

export const openInjectedRecord = (place: Place, options: Options, world: World): InjectedRecord => {
  const file = recordFile(world)
  let last = ""
  return {
    keep: (session, request, texts) => {
      if (!options.debug || file === undefined || texts.length === 0) return
      const entry = { directory: place.directory, session, request, texts }
      const identity = JSON.stringify(entry)
      // Requests of one turn carry the same text; the file changes only when the text does.
      if (identity === last) return
      last = identity
      const entries = [...readEntries(file), { at: new Date().toISOString(), ...entry }].slice(-KEPT_ENTRIES)
      mkdirSync(dirname(file), { recursive: true })
      const fresh = `${file}.${process.pid}`
      writeFileSync(fresh, `${JSON.stringify({ version: 1, entries }, undefined, 2)}\n`, { mode: 0o600 })
      renameSync(fresh, file)
    },
  }
}

const recordFile = ({ environment }: World): string | undefined => {
  const home = environment["HOME"]
  const state = environment["XDG_STATE_HOME"] || (home === undefined ? "" : join(home, ".local/state"))
  return state === "" ? undefined : join(state, "meridian", "opencode-injected.json")
}

const readEntries = (file: string): readonly unknown[] => {
  try {
    // oxlint-disable-next-line no-restricted-properties -- entries are only passed on
    return listField(JSON.parse(readFileSync(file, "utf8")), "entries")
  } catch {
    return []
  }
}
