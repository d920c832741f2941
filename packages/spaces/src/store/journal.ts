/**
 * An append-only log of JSON lines. A writer holds the lock of the log; a reader holds nothing.
 *
 * A writer may die in the middle of a line. Readers silently skip such a tail, and the next append cuts it off first,
 * so that no event is ever glued to it. We never write a damaged line with whole lines after it: that one is skipped
 * and reported.
 */
import { closeSync, fstatSync, fsyncSync, ftruncateSync, writeSync } from "node:fs"

import { Failure, type Json } from "@meridian/protocol"

import { decodeLine, encodeLine, type Fields } from "../domain/json-line.ts"
import { LIMIT } from "../domain/limit.ts"
import { countLines, linesBackwards, lineStartBefore, readAt, scanLines } from "./log-lines.ts"
import { openForAppending, openForReading } from "./open-file.ts"

export interface Damage {
  readonly file: string
  /** Counts from 1. */
  readonly line: number
}

export type OnDamage = (damage: Damage) => void

const NEWLINE = 10

/** Call only while holding the lock of this log. All lines reach the disk or, after a crash, a first part of them. */
export const appendEvents = (
  file: string,
  events: readonly Readonly<Record<string, Json | undefined>>[],
): void => {
  const lines = events.map(encodeLine)
  for (const line of lines)
    if (Buffer.byteLength(line) > LIMIT.eventBytes)
      throw new Failure("EVENT_TOO_LARGE", { file, limit: LIMIT.eventBytes })
  const log = openForAppending(file)
  try {
    healTail(log)
    const bytes = Buffer.from(lines.join(""))
    let written = 0
    while (written < bytes.length) written += writeSync(log, bytes, written)
    fsyncSync(log)
  } finally {
    closeSync(log)
  }
}

/** Every event, oldest first. A missing log is empty. */
export const readEvents = (file: string, onDamage: OnDamage): Fields[] => {
  const events: Fields[] = []
  scanLines(file, (line, number) => {
    const event = line === undefined ? undefined : decodeLine(line)
    if (event !== undefined) events.push(event)
    else if (line?.trim() !== "") onDamage({ file, line: number })
  })
  return events
}

export interface BackwardScan {
  /** Tells which lines matter. The others are not even decoded. */
  readonly concerns?: (line: string) => boolean
  /** Newest first; true ends the scan. */
  readonly each: (event: Fields) => boolean
  readonly onDamage: OnDamage
}

/**
 * Events from the newest back, until `each` has enough: the time does not depend on the length of the log. Damage is
 * reported for the last `LIMIT.damageBytes` of the log in any case, and before them only for the part that was read.
 */
export const scanNewestEvents = (file: string, scan: BackwardScan): void => {
  const log = openForReading(file)
  if (log === undefined) return
  try {
    const damagedAt: number[] = []
    const near = fstatSync(log).size - LIMIT.damageBytes
    let enough = false
    for (const { line, start, last } of linesBackwards(log)) {
      if (enough && start < near) break
      const asked = !enough && (line === undefined || scan.concerns?.(line) !== false)
      if (!asked && start < near) continue
      const event = line === undefined ? undefined : decodeLine(line)
      if (event !== undefined) {
        if (asked) enough = scan.each(event)
      } else if (!last && line?.trim() !== "") damagedAt.push(start)
    }
    let line = 1
    let counted = 0
    for (const offset of damagedAt.toReversed()) {
      line += countLines(log, counted, offset)
      counted = offset
      scan.onDamage({ file, line })
    }
  } finally {
    closeSync(log)
  }
}

/** Cuts off the rest of a line whose writer died. A whole object that only lacks its newline is kept. */
const healTail = (log: number): void => {
  const size = fstatSync(log).size
  if (size === 0) return
  const lastByte = readAt(log, size - 1, 1)
  if (lastByte[0] === NEWLINE) return
  const start = lineStartBefore(log, size)
  const tail =
    size - start <= LIMIT.lineBytes
      ? decodeLine(readAt(log, start, size - start).toString("utf8"))
      : undefined
  if (tail === undefined) ftruncateSync(log, start)
  else writeSync(log, "\n")
}
