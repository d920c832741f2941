/**
 * A worktree whose files were changed for checks, recorded before the change: `held.json` in the folder of the
 * repository, under the lock of applying. Until the files are put back, the worktree does not show what the run left.
 */
import { existsSync, rmSync } from "node:fs"
import { join } from "node:path"

import { isJsonObject } from "@meridian/protocol"

import { decodeJson, text } from "../domain/json-line.ts"
import { readDocument, replaceFile } from "../store/document.ts"
import { callGit, type GitPlace } from "./git.ts"
import { bind } from "./repository.ts"
import { restoreFiles } from "./restore-files.ts"
import type { WorktreesPlace } from "./worktree-place.ts"

export interface HeldFiles {
  readonly top: string
  readonly gitDir: string
  /** The commit with what the run left. */
  readonly kept: string
  /** The tree that replaces it. */
  readonly held: string
  /** The ref that keeps `kept`. */
  readonly ref: string
}

const fileOf = ({ directory }: WorktreesPlace): string => join(directory, "held.json")

export const writeHeld = (place: WorktreesPlace, held: HeldFiles): void =>
  replaceFile(fileOf(place), `${JSON.stringify(held)}\n`)

export const forgetHeld = (place: WorktreesPlace): void => rmSync(fileOf(place), { force: true })

export const readHeld = (place: WorktreesPlace): HeldFiles | undefined => {
  const fields = decodeJson(readDocument(fileOf(place)) ?? "")
  if (!isJsonObject(fields)) return undefined
  const [top, gitDir, kept, held, ref] = ["top", "gitDir", "kept", "held", "ref"].map((name) =>
    text(fields, name),
  )
  return top === undefined ||
    gitDir === undefined ||
    kept === undefined ||
    held === undefined ||
    ref === undefined
    ? undefined
    : { top, gitDir, kept, held, ref }
}

/**
 * Puts back what a killed process left, under the lock of applying. Touches only files that hold exactly what was put
 * there. Undefined if there was nothing.
 */
export const recoverHeld = async (
  git: GitPlace,
  place: WorktreesPlace,
  token: string,
): Promise<HeldFiles | undefined> => {
  const held = readHeld(place)
  if (held === undefined) return undefined
  const { top, gitDir, kept, ref } = held
  if (existsSync(top) && existsSync(gitDir)) {
    const checkout = { git: bind(git, { gitDir, top }), top, gitDir }
    await restoreFiles(checkout, { head: kept, commit: held.held, token })
  }
  await callGit(git, ["update-ref", "-d", ref])
  forgetHeld(place)
  return held
}
