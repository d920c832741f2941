/**
 * One writer at a time, for a file that changes rarely and quickly: a lock file that only one process can create, and
 * that names that process. Unlike the locks of chats and runs it needs no helper program, so a trust can be recorded
 * on every machine. A dead holder is recognised by its process.
 */
import { randomUUID } from "node:crypto"
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"

import { Failure, systemCode } from "@meridian/protocol"

import { decodeLine, encodeLine } from "../domain/json-line.ts"
import { LIMIT } from "../domain/limit.ts"
import { readMark, writeMark } from "../domain/process-mark.ts"
import { isMissing } from "./open-file.ts"
import { isAlive, markOf } from "./process-table.ts"

export const withExclusive = async <T>(path: string, body: () => T): Promise<T> => {
  const own = `${path}.${randomUUID()}`
  const name = encodeLine({ own, ...writeMark("holder", markOf(process.pid)) })
  // Written whole before it gets its name, so that a process that finds the lock can read who holds it.
  writeFileSync(own, name, { mode: 0o600 })
  try {
    for (let waited = 0; waited < LIMIT.exclusiveWaitMs; waited += LIMIT.exclusiveStepMs) {
      if (!take(own, path)) {
        await sleep(LIMIT.exclusiveStepMs)
        continue
      }
      try {
        return body()
      } finally {
        // A process that took us for dead may hold it by now.
        if (contentOf(path) === name) rmSync(path, { force: true })
      }
    }
  } finally {
    rmSync(own, { force: true })
  }
  throw new Failure("LOCK_TIMEOUT", { file: path, seconds: LIMIT.exclusiveWaitMs / 1000 })
}

const take = (own: string, path: string): boolean => {
  try {
    linkSync(own, path)
    return true
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error
  }
  const holder = readMark(decodeLine(contentOf(path) ?? "") ?? {}, "holder")
  if (holder !== undefined && !isAlive(holder)) rmSync(path, { force: true })
  return false
}

const contentOf = (path: string): string | undefined => {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
