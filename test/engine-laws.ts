/** The laws of a session's log, checked over the whole log. Returns one sentence for each broken law. */
import { DatabaseSync } from "node:sqlite"
import { isDeepStrictEqual } from "node:util"

import type { SessionEvent } from "@meridian/engine"

import { openDatabase } from "../packages/engine/src/store/sqlite/database.ts"
import { rebuildProjections } from "../packages/engine/src/store/sqlite/rebuild.ts"

/** What a tool really did, as the tool itself recorded it. */
export interface Act {
  readonly messageID: string
  readonly callID: string
}

const keyOf = (messageID: string, callID: string): string => `${messageID}/${callID}`

export const brokenLaws = (
  events: readonly SessionEvent[],
  acts: readonly Act[] = [],
  options: { readonly settled: boolean } = { settled: true },
): readonly string[] => [
  ...sequenceHasNoGaps(events),
  ...historyIsLinear(events, options.settled),
  ...callsHaveOneOutcome(events, options.settled),
  ...actsWereIntended(events, acts),
  ...inputsArePromotedOnceInOrder(events),
  ...valuesWereAskedFor(events),
]

const sequenceHasNoGaps = (events: readonly SessionEvent[]): readonly string[] =>
  events.flatMap((event, index) =>
    "seq" in event && event.seq === index + 1 ? [] : [`place ${index + 1} is not sequence ${index + 1}`],
  )

/** Steps run one at a time and each ends once. Nothing is said or called outside an open step. */
const historyIsLinear = (events: readonly SessionEvent[], settled: boolean): readonly string[] => {
  const broken: string[] = []
  let open: string | undefined
  const ended = new Set<string>()
  for (const event of events) {
    if (event.type === "session.next.step.started.1") {
      if (open !== undefined) broken.push(`a step starts inside ${open}`)
      open = event.data.assistantMessageID
    } else if (event.type === "session.next.step.ended.2" || event.type === "session.next.step.failed.2") {
      const id = event.data.assistantMessageID
      if (open !== id || ended.has(id)) broken.push(`${id} ends, but is not open`)
      ended.add(id)
      open = undefined
    } else if (
      event.type === "session.next.text.ended.1" ||
      event.type === "session.next.reasoning.ended.1" ||
      event.type === "session.next.tool.called.1" ||
      event.type === "session.next.retried.1"
    ) {
      if (open !== event.data.assistantMessageID)
        broken.push(`${event.type} of ${event.data.assistantMessageID} outside of its step`)
    }
  }
  if (settled && open !== undefined) broken.push(`step ${open} was never ended`)
  return broken
}

const callsHaveOneOutcome = (events: readonly SessionEvent[], settled: boolean): readonly string[] => {
  const broken: string[] = []
  const outcomes = new Map<string, number>()
  for (const event of events) {
    if (event.type === "session.next.tool.called.1") {
      const key = keyOf(event.data.assistantMessageID, event.data.callID)
      if (outcomes.has(key)) broken.push(`call ${key} is recorded twice`)
      outcomes.set(key, 0)
    }
    if (event.type === "session.next.tool.success.1" || event.type === "session.next.tool.failed.1") {
      const key = keyOf(event.data.assistantMessageID, event.data.callID)
      const before = outcomes.get(key)
      if (before === undefined) broken.push(`${key} has an outcome without a call`)
      else if (before > 0) broken.push(`${key} has a second outcome`)
      outcomes.set(key, (before ?? 0) + 1)
    }
  }
  if (settled) for (const [key, count] of outcomes) if (count === 0) broken.push(`call ${key} has no outcome`)
  return broken
}

const actsWereIntended = (events: readonly SessionEvent[], acts: readonly Act[]): readonly string[] => {
  const intended = new Set(
    events.flatMap((event) =>
      event.type === "session.next.tool.called.1"
        ? [keyOf(event.data.assistantMessageID, event.data.callID)]
        : [],
    ),
  )
  const done = new Set<string>()
  return acts.flatMap(({ messageID, callID }) => {
    const key = keyOf(messageID, callID)
    const twice = done.has(key)
    done.add(key)
    return [
      ...(intended.has(key) ? [] : [`${key} acted without a recorded intent`]),
      ...(twice ? [`${key} acted twice`] : []),
    ]
  })
}

/** An input that was only admitted waits for its own demand, so others may pass it. Each kind keeps its order. */
const inputsArePromotedOnceInOrder = (events: readonly SessionEvent[]): readonly string[] => {
  const broken: string[] = []
  const admitted = new Map<
    string,
    { readonly seq: number; readonly delivery: string; readonly resume: boolean }
  >()
  const gone = new Set<string>()
  const newest = new Map<string, number>()
  for (const event of events) {
    if (event.type === "session.next.prompt.admitted.1") {
      const { messageID, delivery, resume } = event.data
      if (admitted.has(messageID)) broken.push(`${messageID} is admitted twice`)
      admitted.set(messageID, { seq: event.seq, delivery, resume })
    }
    if (event.type === "session.next.prompt.cancelled.1") {
      if (gone.has(event.data.messageID)) broken.push(`${event.data.messageID} is cancelled too late`)
      gone.add(event.data.messageID)
    }
    if (event.type !== "session.next.prompt.promoted.1") continue
    const { messageID, admittedSeq } = event.data
    const input = admitted.get(messageID)
    if (input?.seq !== admittedSeq) broken.push(`${messageID} is promoted, but was not admitted so`)
    if (gone.has(messageID)) broken.push(`${messageID} is promoted a second time, or after it was cancelled`)
    gone.add(messageID)
    if (input?.delivery === "queue")
      for (const [id, other] of admitted)
        if (other.delivery === "steer" && other.resume && !gone.has(id))
          broken.push(`${messageID} is opened while ${id} waits`)
    const kind = `${input?.delivery} ${input?.resume}`
    if (admittedSeq < (newest.get(kind) ?? 0)) broken.push(`${messageID} is promoted out of order`)
    newest.set(kind, admittedSeq)
  }
  return broken
}

/** A value belongs to work that asked for one, and ends that work. The next value needs another promotion first. */
const valuesWereAskedFor = (events: readonly SessionEvent[]): readonly string[] => {
  const broken: string[] = []
  const asking = new Set<string>()
  let isAsked = false
  let given: string | undefined
  for (const event of events) {
    if (event.type === "session.next.prompt.admitted.1" && event.data.format !== undefined)
      asking.add(event.data.messageID)
    if (event.type === "session.next.prompt.promoted.1") {
      isAsked ||= asking.has(event.data.messageID)
      given = undefined
    }
    if (event.type !== "session.next.output.given.1") continue
    const { assistantMessageID } = event.data
    if (!isAsked) broken.push(`${assistantMessageID} gives a value that nobody asked for`)
    if (given !== undefined && given !== assistantMessageID)
      broken.push(`${assistantMessageID} gives a value behind ${given}`)
    given = assistantMessageID
  }
  return broken
}

export type Projections = Readonly<Record<string, readonly unknown[]>>

/** Not derived from the log: the log itself, and who may write now. */
const KEPT = new Set(["event", "owner", "lease"])

export const readProjections = (file: string): Projections => {
  const raw = new DatabaseSync(file, { readOnly: true })
  try {
    const tables = raw.prepare("select name from sqlite_schema where type = 'table' order by name").all()
    return Object.fromEntries(
      tables
        .map(({ name }) => String(name))
        .filter((name) => !KEPT.has(name))
        .map((name) => [name, raw.prepare(`select * from ${name} order by 1, 2`).all()]),
    )
  } finally {
    raw.close()
  }
}

/** Derives the projections again and lists the tables that differ. */
export const rebuiltDifferently = (file: string): readonly string[] => {
  const before = readProjections(file)
  const database = openDatabase({ file })
  rebuildProjections(database)
  database.close()
  const after = readProjections(file)
  return Object.keys(before).filter((table) => !isDeepStrictEqual(before[table], after[table]))
}

export const integrityOf = (file: string): string => {
  const raw = new DatabaseSync(file, { readOnly: true })
  try {
    return String(raw.prepare("pragma integrity_check").get()?.["integrity_check"])
  } finally {
    raw.close()
  }
}
