/**
 * Which form of the records the newest Meridian that worked here writes. An older one cannot read what that one wrote, so it
 * does not supervise, and gives its place up when it finds itself to be the older.
 */
import { RECORD_VERSION } from "../domain/run-record.ts"
import { readDocument, replaceFile } from "./document.ts"
import { supervisorVersion, type StatePlace } from "./place.ts"

export const isOutdated = (place: StatePlace): boolean => wanted(place) > RECORD_VERSION

/** Before a supervisor is looked for. True when one that is at work may be older: it makes room within a look then. */
export const wantThisVersion = (place: StatePlace): boolean => {
  if (wanted(place) >= RECORD_VERSION) return false
  replaceFile(supervisorVersion(place), `${RECORD_VERSION}\n`)
  return true
}

/** 0 where nobody said so; what is no number says nothing. */
const wanted = (place: StatePlace): number => {
  const told = readDocument(supervisorVersion(place), MOST_BYTES)?.trim() ?? ""
  return /^\d{1,6}$/.test(told) ? Number(told) : 0
}

const MOST_BYTES = 64
