/**
 * The server's token: one line in a file that only its owner can read. It is created at the first start and kept, so that
 * an open page survives a restart. A file that others can read, or without a token, is replaced, so a leaked token becomes
 * worthless.
 */
import { randomBytes } from "node:crypto"
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  writeSync,
} from "node:fs"
import { dirname } from "node:path"

import { Failure, systemCode } from "@meridian/protocol"

const TOKEN = /^[A-Za-z0-9_-]{43}\n?$/
const OTHERS = 0o077

export const readOrMakeToken = (file: string): string => {
  try {
    mkdirSync(dirname(file), { recursive: true })
    return readToken(file) ?? makeToken(file)
  } catch (cause) {
    throw new Failure("TOKEN_UNUSABLE", { file, why: systemCode(cause) || "unknown" }, { cause })
  }
}

const readToken = (file: string): string | undefined => {
  let descriptor: number
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (cause) {
    if (systemCode(cause) === "ENOENT") return undefined
    throw cause
  }
  try {
    const status = fstatSync(descriptor)
    const buffer = Buffer.alloc(64)
    const text = status.isFile() ? buffer.toString("latin1", 0, readSync(descriptor, buffer)) : ""
    return (status.mode & OTHERS) === 0 && TOKEN.test(text) ? text.trim() : undefined
  } finally {
    closeSync(descriptor)
  }
}

/** Written to a temporary file and renamed, so that a server starting at the same moment never reads half a token. */
const makeToken = (file: string): string => {
  const token = randomBytes(32).toString("base64url")
  const fresh = `${file}.${process.pid}.${randomBytes(4).toString("hex")}`
  const descriptor = openSync(fresh, "wx", 0o600)
  try {
    writeSync(descriptor, `${token}\n`)
  } finally {
    closeSync(descriptor)
  }
  renameSync(fresh, file)
  return readToken(file) ?? token
}
