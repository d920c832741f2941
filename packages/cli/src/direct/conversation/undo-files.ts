/** Carries out `/undo`: looks at the files, writes those that go back, and says what came of it. */
import { lstatSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { relative } from "node:path"

import type { SessionEvent } from "@meridian/engine"
import { oneLine } from "@meridian/protocol"

import { several } from "./describe.ts"
import { lastWork, takeBack } from "./undo.ts"

export interface Undone {
  /** For the person. */
  readonly sentences: readonly string[]
  /** For the model: its files are not what it thinks. Undefined when nothing changed. */
  readonly note: string | undefined
  readonly callIDs: readonly string[]
}

/** Larger files stay as they are. */
const MOST_BYTES = 8 * 1024 * 1024

export const undoFiles = (
  events: readonly SessionEvent[],
  place: { readonly directory: string; readonly undone: ReadonlySet<string> },
): Undone => {
  const { changes, commands } = lastWork(events, place)
  if (changes.length === 0)
    return { sentences: ["There is no change of a file to take back."], note: undefined, callIDs: [] }
  const now = new Map(changes.map(({ path }) => [path, readText(path)]))
  const { files, kept } = takeBack(changes, now)
  for (const [path, content] of files)
    if (content === undefined) rmSync(path)
    else writeFileSync(path, content)
  const name = (path: string): string => oneLine(relative(place.directory, path) || path, 200)
  const names = [...files.keys()].map(name).toSorted()
  return {
    sentences: [
      ...(names.length === 0 ? [] : [`Taken back: ${names.join(", ")}.`]),
      ...kept.map((path) => `${name(path)} stays as it is: what stood there before is not known for sure.`),
      ...(commands === 0 ? [] : [`What ${several(commands, "command")} did is not taken back.`]),
    ],
    note:
      names.length === 0
        ? undefined
        : `I have taken back your last changes to these files: ${names.join(", ")}.`,
    callIDs: changes.map(({ callID }) => callID),
  }
}

/** Undefined for everything that is no file of text we could write back byte by byte. */
const readText = (path: string): string | undefined => {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat?.isFile() !== true || stat.size > MOST_BYTES) return undefined
  const bytes = readFileSync(path)
  const text = bytes.toString("utf8")
  return Buffer.from(text).equals(bytes) ? text : undefined
}
