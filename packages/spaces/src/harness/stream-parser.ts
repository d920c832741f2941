/**
 * What all parsers share: one JSON object per line, one report of the session id, tolerance for unknown and damaged
 * lines, and the judgement of how a process ended. A dialect only says what its own lines mean.
 */
import { stripVTControlCharacters } from "node:util"

import { harnessSessionId, type HarnessSessionId, type JsonObject, parseObject } from "@meridian/protocol"

import type {
  HarnessEvent,
  HarnessFailure,
  ProcessEnd,
  StreamParser,
  Usage,
  Verdict,
} from "../port/harness.ts"
import { cut } from "./bounded-text.ts"
import { classifyText, failureOf } from "./classify.ts"
import { LIMITS } from "./limits.ts"

export interface Dialect {
  /** The native session id that a line shows, if it can be trusted. */
  readonly session: (line: JsonObject) => string | undefined
  /** Finds the same id in the beginning of a line too long to parse. */
  readonly sessionPattern: RegExp
  readonly read: (line: JsonObject) => readonly HarnessEvent[]
  readonly outcome: (end: ProcessEnd) => Outcome
}

export interface Outcome {
  /** The stream says the work is done. The dialect has already weighed the exit code. */
  readonly complete: boolean
  /** Why it failed, according to the stream, if nothing later took that back. */
  readonly failure?: HarnessFailure
  readonly report?: string
  readonly usage?: Usage
  readonly sessionUsage?: Usage
}

export const streamParser = (dialect: Dialect): StreamParser => {
  let known: HarnessSessionId | undefined
  let gaveUp: HarnessFailure | undefined
  let skipped = 0
  let seen = 0

  const meet = (text: string | undefined): readonly HarnessEvent[] => {
    const id = text === undefined ? undefined : asSession(text)
    if (id === undefined || id === known) return []
    known = id
    return [{ type: "session", harnessSessionId: id }]
  }

  return {
    push: (text) => {
      if (text.trim() === "") return []
      const line = parseObject(text)
      if (line === undefined) {
        skipped += 1
        return []
      }
      seen += 1
      const told = gaveUp !== undefined
      const events = [...meet(dialect.session(line)), ...dialect.read(line)]
      const hopeless = events.find((event) => event.type === "give-up")
      if (hopeless === undefined) return events
      gaveUp ??= failureOf(hopeless.failure, hopeless.message)
      return told ? events.filter((event) => event.type !== "give-up") : events
    },
    pushCut: (start, bytes) => {
      skipped += 1
      return [
        ...meet(dialect.sessionPattern.exec(start)?.[1]),
        { type: "warning", message: `A line of ${bytes} bytes was too long to read.` },
      ]
    },
    end: (end) => {
      const outcome = dialect.outcome(end)
      const judged = judge({ outcome, end, seen, ...(gaveUp === undefined ? {} : { gaveUp }) })
      return {
        ...judged,
        ...(known === undefined ? {} : { harnessSessionId: known }),
        ...(outcome.report === undefined || outcome.report === "" ? {} : { report: outcome.report }),
        ...(outcome.usage === undefined ? {} : { usage: outcome.usage }),
        ...(outcome.sessionUsage === undefined ? {} : { sessionUsage: outcome.sessionUsage }),
        skippedLines: skipped,
      }
    },
  }
}

/** Keeps an unknown line, so that a newer harness can be read later. */
export const other = (name: string, line: JsonObject): HarnessEvent => ({
  type: "other",
  name: cut(name, 100),
  raw: cut(JSON.stringify(line), LIMITS.rawText),
})

export const asSession = (text: string): HarnessSessionId | undefined => {
  try {
    return harnessSessionId(text)
  } catch {
    return undefined
  }
}

interface Evidence {
  readonly outcome: Outcome
  readonly end: ProcessEnd
  /** How many lines were readable. */
  readonly seen: number
  readonly gaveUp?: HarnessFailure
}

/** The order is the rule: proof in the stream beats what we did, which beats the look of the exit. */
const judge = ({ outcome, end, seen, gaveUp }: Evidence): Pick<Verdict, "status" | "failure"> => {
  if (outcome.complete) return { status: "succeeded" }
  if (gaveUp !== undefined) return { status: "failed", failure: gaveUp }
  if (end.stopped === "timeout") return failed(failureOf("timeout", "The run reached its time limit."))
  if (end.stopped === "cancelled") return { status: "cancelled" }
  if (outcome.failure !== undefined) return failed(outcome.failure)
  if (isInterrupt(end)) return { status: "cancelled" }
  if (end.signal !== null) return failed(failureOf("crashed", `The harness was ended by ${end.signal}.`))
  return failed(judgeExit(end, seen))
}

const failed = (failure: HarnessFailure): Pick<Verdict, "status" | "failure"> => ({
  status: "failed",
  failure,
})

const isInterrupt = (end: ProcessEnd): boolean =>
  ["SIGINT", "SIGTERM", "SIGHUP"].includes(end.signal ?? "") || end.exitCode === 130 || end.exitCode === 143

const judgeExit = (end: ProcessEnd, seen: number): HarnessFailure => {
  const said = lastWords(end.stderrTail)
  if (end.exitCode === 0) {
    return seen === 0
      ? failureOf(
          "no_output",
          `The harness ended without any output.${said === "" ? "" : ` It said: ${said}`}`,
        )
      : failureOf("incomplete", "The harness ended before it had finished its answer.")
  }
  const kind = classifyText(end.stderrTail)
  const message = said === "" ? `The harness exited with code ${end.exitCode}.` : said
  if (kind !== "unclassified") return failureOf(kind, message)
  return failureOf(end.exitCode === 2 ? "invalid_launch" : "unclassified", message)
}

/** The most telling line of stderr: a named error, else the last line. Warnings and backtraces are noise. */
const lastWords = (stderr: string): string => {
  const lines = stripVTControlCharacters(stderr)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !/^(warning\b|stack backtrace|\d+: |at )/i.test(line))
  return lines.findLast((line) => /\berror\b/i.test(line)) ?? lines.at(-1) ?? ""
}
