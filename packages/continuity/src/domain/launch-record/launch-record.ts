/**
 * The launch record of a harness session (seed 000): what Meridian resolved when it started the conversation.
 * `sessions.jsonl` of a space holds events, one JSON object per line: `start` with every launch parameter, `update` with a
 * harness session id that became known later, `stop`. Unreadable lines are skipped (the last one may be torn).
 */
export interface LaunchRecord {
  readonly chatId: string
  /** The run that it carries out, if any. */
  readonly runId: string | undefined
  /** The task in the words of the user. Only newer versions record it. */
  readonly task: string | undefined
  readonly agent: string | undefined
  readonly agentPath: string | undefined
  readonly skillPaths: readonly string[]
}

export const LAUNCH_LIMITS = { skills: 32 } as const

/** The newest record of this harness session: the latest start, and for equal starts the later line. */
export const findLaunchRecord = (
  events: Iterable<unknown>,
  harnessSessionId: string,
): LaunchRecord | undefined => {
  const records = new Map<string, Started>()
  let line = 0
  for (const event of events) {
    line += 1
    apply(records, event, line)
  }
  let newest: Started | undefined
  for (const record of records.values())
    if (record.harnessSessionIds.has(harnessSessionId) && (newest === undefined || isNewer(record, newest)))
      newest = record
  return newest?.record
}

interface Started {
  readonly record: LaunchRecord
  readonly startedAt: string
  readonly line: number
  /** Every id seen: a harness may give a continued conversation a new one. */
  readonly harnessSessionIds: Set<string>
}

const apply = (records: Map<string, Started>, event: unknown, line: number): void => {
  const chatId = textOf(event, "chat_id") ?? textOf(event, "session_id")
  if (chatId === undefined) return
  const harnessSessionId = textOf(event, "harness_session_id")
  const name = textOf(event, "event")
  if (name === "update" && harnessSessionId !== undefined)
    records.get(chatId)?.harnessSessionIds.add(harnessSessionId)
  if (name !== "start") return
  records.set(chatId, {
    record: {
      chatId,
      runId: textOf(event, "run_id"),
      task: textOf(event, "task"),
      agent: textOf(event, "agent"),
      agentPath: textOf(event, "agent_path"),
      skillPaths: [...new Set(textsOf(event, "skill_paths"))].slice(0, LAUNCH_LIMITS.skills),
    },
    startedAt: textOf(event, "started_at") ?? "",
    line,
    harnessSessionIds: new Set(harnessSessionId === undefined ? [] : [harnessSessionId]),
  })
}

const isNewer = (left: Started, right: Started): boolean =>
  left.startedAt === right.startedAt ? left.line > right.line : left.startedAt > right.startedAt

const valueOf = (event: unknown, key: string): unknown =>
  typeof event === "object" && event !== null && Object.hasOwn(event, key)
    ? Reflect.get(event, key)
    : undefined

const textOf = (event: unknown, key: string): string | undefined => {
  const value = valueOf(event, key)
  return typeof value === "string" && value !== "" ? value : undefined
}

const textsOf = (event: unknown, key: string): readonly string[] => {
  const value = valueOf(event, key)
  return Array.isArray(value) ? value.filter((item) => typeof item === "string" && item !== "") : []
}
