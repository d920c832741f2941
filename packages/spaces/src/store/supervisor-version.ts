/**
 * The record format that the newest Meridian here writes. An older Meridian cannot read it, so it does not supervise,
 * and resigns once it finds itself outdated.
 */
import { RECORD_VERSION } from "../domain/run-record.ts"
import { readDocument, replaceFile } from "./document.ts"
import { supervisorVersion, type StatePlace } from "./place.ts"

export const isOutdated = (place: StatePlace): boolean => wanted(place) > RECORD_VERSION

/** Call before looking for a supervisor. True if the one at work may be older; it then resigns at its next look. */
export const wantThisVersion = (place: StatePlace): boolean => {
  if (wanted(place) >= RECORD_VERSION) return false
  replaceFile(supervisorVersion(place), `${RECORD_VERSION}\n`)
  return true
}

/** 0 if the file is missing or not a number. */
const wanted = (place: StatePlace): number => {
  const told = readDocument(supervisorVersion(place), MOST_BYTES)?.trim() ?? ""
  return /^\d{1,6}$/.test(told) ? Number(told) : 0
}

const MOST_BYTES = 64
