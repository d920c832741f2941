/**
 * The move of a checkout, recorded before it begins: `move.json` in the folder of the repository, under the lock of
 * applying. If the process is killed, the next apply or `meridian doctor` finishes the move or takes it back.
 */
import { rmSync } from "node:fs"
import { join } from "node:path"

import { isJsonObject } from "@meridian/protocol"

import { decodeJson, text } from "../domain/json-line.ts"
import { readDocument, replaceFile } from "../store/document.ts"
import type { WorktreesPlace } from "./worktree-place.ts"

export interface CheckoutMove {
  readonly top: string
  readonly gitDir: string
  /** What HEAD was, and what it will be. */
  readonly head: string
  readonly commit: string
  /** Names our files in the git folder of the checkout. */
  readonly token: string
  /** HEAD stays where it is. */
  readonly isStaged: boolean
  /** The run whose work it brings: folder of the spaces, space, run. */
  readonly spaces: string
  readonly space: string
  readonly run: string
}

const fileOf = ({ directory }: WorktreesPlace): string => join(directory, "move.json")

export const writeMove = (place: WorktreesPlace, move: CheckoutMove): void =>
  replaceFile(fileOf(place), `${JSON.stringify(move)}\n`)

export const forgetMove = (place: WorktreesPlace): void => rmSync(fileOf(place), { force: true })

export const readMove = (place: WorktreesPlace): CheckoutMove | undefined => {
  const fields = decodeJson(readDocument(fileOf(place)) ?? "")
  if (!isJsonObject(fields)) return undefined
  const [top, gitDir, head, commit, token, spaces, space, run] = NAMES.map((name) => text(fields, name))
  return top === undefined ||
    gitDir === undefined ||
    head === undefined ||
    commit === undefined ||
    token === undefined ||
    spaces === undefined ||
    space === undefined ||
    run === undefined
    ? undefined
    : { top, gitDir, head, commit, token, spaces, space, run, isStaged: fields["isStaged"] === true }
}

const NAMES = ["top", "gitDir", "head", "commit", "token", "spaces", "space", "run"] as const
