import { Failure } from "@meridian/protocol"
/**
 * The times of a cron pattern in a zone (docs/decisions/0065-cron-patterns.md). Loaded only on demand: most commands
 * never need it.
 */
import { Cron } from "croner"

import { SCHEDULE_LIMIT } from "../domain/schedule.ts"

export interface CronTimes {
  /** The first time after this one. */
  readonly next: (afterMs: number) => number | undefined
  /** The last time up to this one. */
  readonly last: (untilMs: number) => number | undefined
}

/** Throws SCHEDULE_PATTERN, SCHEDULE_ZONE. */
export const cronTimes = ({
  pattern,
  zone,
}: {
  readonly pattern: string
  readonly zone: string
}): CronTimes => {
  requireZone(zone)
  const cron = readPattern(pattern, zone)
  return {
    next: (afterMs) => cron.nextRun(new Date(afterMs))?.getTime(),
    // The library counts in whole seconds and excludes the given one.
    last: (untilMs) => cron.previousRuns(1, new Date(untilMs + 1_000))[0]?.getTime(),
  }
}

const readPattern = (pattern: string, zone: string): Cron => {
  if (pattern.length > SCHEDULE_LIMIT.patternCharacters)
    throw new Failure("SCHEDULE_PATTERN", {
      pattern: `${pattern.slice(0, 40)}…`,
      problem: `it has more than ${SCHEDULE_LIMIT.patternCharacters} characters`,
    })
  try {
    return new Cron(pattern, { paused: true, timezone: zone })
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    throw new Failure("SCHEDULE_PATTERN", {
      pattern,
      problem: said.replace(/^Cron\w+: /, "").replace(/\.$/, ""),
    })
  }
}

const requireZone = (zone: string): void => {
  try {
    Intl.DateTimeFormat("en", { timeZone: zone })
  } catch {
    throw new Failure("SCHEDULE_ZONE", { zone })
  }
}

/** The zone of this machine, by its name. */
export const ownZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone

/** `2026-11-19 09:00`, as the clocks of the zone show it, with seconds unless they are zero. */
export const timeIn = (ms: number, zone: string): string => {
  const timeStyle = ms % 60_000 === 0 ? "short" : "medium"
  return new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle }).format(ms)
}
