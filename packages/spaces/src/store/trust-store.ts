/**
 * The trust book on disk: one file of the user's, 0600, replaced whole under its lock. A book that another user could
 * have written is worthless, so it is refused rather than read.
 */
import { mkdirSync, statSync } from "node:fs"
import { dirname } from "node:path"

import { readWhole } from "@meridian/continuity/files"
import { Failure } from "@meridian/protocol"

import { LIMIT } from "../domain/limit.ts"
import { decodeBook, EMPTY_BOOK, encodeBook, type TrustBook } from "../domain/trust.ts"
import { replaceFile } from "./document.ts"
import { withExclusive } from "./exclusive.ts"
import { trustFile } from "./user-place.ts"

type Environment = Readonly<Record<string, string | undefined>>

const OTHERS_WRITE = 0o022

/** Empty if there is none. Throws TRUST_UNUSABLE. */
export const readTrustBook = (env: Environment): TrustBook => {
  const file = trustFile(env)
  return file === undefined ? EMPTY_BOOK : readBook(file)
}

/** Throws TRUST_UNUSABLE if this user has no place for it. */
export const changeTrustBook = async (
  env: Environment,
  change: (book: TrustBook) => TrustBook,
): Promise<void> => {
  const file = trustFile(env)
  if (file === undefined)
    throw unusable("the trust store", "this user has no home directory (HOME, XDG_STATE_HOME)")
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  await withExclusive(`${file}.lock`, () => {
    const before = readBook(file)
    const after = change(before)
    if (after !== before) replaceFile(file, encodeBook(after))
  })
}

const readBook = (file: string): TrustBook => {
  const found = readWhole(dirname(file), file, LIMIT.documentBytes)
  if (found.kind === "absent") return EMPTY_BOOK
  if (found.kind === "refused") throw unusable(file, found.reason)
  const { uid, mode } = statSync(file)
  const user = process.getuid?.()
  if (user !== undefined && uid !== user) throw unusable(file, `it belongs to the user with the id ${uid}`)
  if ((mode & OTHERS_WRITE) !== 0) throw unusable(file, "other users can write it")
  const book = decodeBook(found.text)
  if (typeof book === "string") throw unusable(file, book)
  return book
}

const unusable = (file: string, why: string): Failure => new Failure("TRUST_UNUSABLE", { file, why })
