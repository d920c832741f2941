/** What a run does, folded from the lines of its `events.jsonl`, and each line in words for people. Pure. */
import { aboutCall, oneLine, plainText, wordAt } from "@meridian/protocol"

import { number, text, type Fields } from "./json-line.ts"

export interface RunActivity {
  /** What it does now, in a few words. An open call takes precedence. Undefined before the first sign of life. */
  readonly doing: string | undefined
  /** Calls that have not ended, by their id. */
  readonly open: ReadonlyMap<string, string>
  /** The last line it said, and the last call it made. */
  readonly said: string | undefined
  readonly tool: string | undefined
  /** Its last sign of life, in ISO time. */
  readonly at: string | undefined
  readonly tools: number
  /** What it has read, including from a cache. */
  readonly inputTokens: number
  readonly outputTokens: number
  /** Undefined if the harness does not report it. */
  readonly costUsd: number | undefined
}

export const NO_ACTIVITY: RunActivity = {
  doing: undefined,
  open: new Map(),
  said: undefined,
  tool: undefined,
  at: undefined,
  tools: 0,
  inputTokens: 0,
  outputTokens: 0,
  costUsd: undefined,
}

/** `event` is one line of `events.jsonl`. */
export const followActivity = (before: RunActivity, event: Fields): RunActivity => {
  const activity: RunActivity = { ...before, at: text(event, "at") ?? before.at }
  switch (wordAt(event, "type")) {
    case "tool.started": {
      const call = [text(event, "call") ?? "", callInWords(event)] as const
      const open = new Map([...activity.open, call].slice(-MOST_OPEN))
      return does({ ...activity, open, tool: call[1], tools: activity.tools + 1 }, "thinking")
    }
    case "tool.ended": {
      const call = text(event, "call") ?? ""
      return does(
        { ...activity, open: new Map([...activity.open].filter(([id]) => id !== call)) },
        "thinking",
      )
    }
    case "turn.ended":
    case "reasoning":
      return does(activity, "thinking")
    case "text":
      return does({ ...activity, said: lastLine(text(event, "text") ?? "") ?? activity.said }, "writing")
    case "compaction":
      return does(activity, event["phase"] === "started" ? "compacting" : "thinking")
    case "retry":
      return does(activity, `trying again: ${oneLine(text(event, "message") ?? "", DOING)}`)
    case "check":
      return { ...activity, doing: `checking: ${oneLine(text(event, "command") ?? "", DOING)}` }
    case "usage":
      return { ...activity, ...withUsage(activity, event) }
    default:
      return activity
  }
}

/** Whether this kind of event shows that the agent said or did something. */
export const isProgress = (type: string): boolean => PROGRESS.has(type)

const PROGRESS: ReadonlySet<string> = new Set(["text", "tool.started", "tool.ended", "file"])

const does = (activity: RunActivity, otherwise: string): RunActivity => ({
  ...activity,
  doing: [...activity.open.values()].at(-1) ?? otherwise,
})

const lastLine = (said: string): string | undefined =>
  oneLine(said.trimEnd().split("\n").at(-1) ?? "", DOING) || undefined

/** Bounds the memory if a harness never ends its calls. */
const MOST_OPEN = 100

/** One event as `run tail` prints it. Undefined for events of no interest to a reader. */
export const eventInWords = (event: Fields): string | undefined => {
  const message = (): string => oneLine(text(event, "message") ?? "", MESSAGE)
  switch (wordAt(event, "type")) {
    case "text":
      return plainText(text(event, "text") ?? "").trim() || undefined
    case "reasoning":
      return `(thinking) ${oneLine(text(event, "text") ?? "", MESSAGE)}`
    case "tool.started":
      return `> ${callInWords(event)}`
    case "tool.ended":
      return event["status"] === "failed"
        ? `  failed: ${oneLine(text(event, "output") ?? "", MESSAGE)}`
        : undefined
    case "file":
      return `  ${event["change"] === "deleted" ? "deleted" : "wrote"} ${oneLine(text(event, "path") ?? "", MESSAGE)}`
    case "compaction":
      return `(compaction ${oneLine(text(event, "phase") ?? "", DOING)})`
    case "retry":
      return `(trying again: ${message()})`
    case "check":
      return `(check ${oneLine(text(event, "ended") ?? text(event, "command") ?? "", MESSAGE)})`
    case "warning":
      return `(warning: ${message()})`
    case "error":
    case "give-up":
      return `(error: ${message()})`
    default:
      return undefined
  }
}

/** `1234` -> `1.2k`. */
export const shortCount = (count: number): string => {
  if (count < 1_000) return String(count)
  if (count < 1_000_000) return `${(count / 1_000).toFixed(count < 10_000 ? 1 : 0)}k`
  return `${(count / 1_000_000).toFixed(1)}M`
}

/** `75` -> `1m 15s`. */
export const shortTime = (seconds: number): string => {
  const whole = Math.max(0, Math.floor(seconds))
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60]
  if (hours > 0) return `${hours}h ${minutes}m`
  return minutes > 0 ? `${minutes}m ${whole % 60}s` : `${whole}s`
}

const DOING = 80
const MESSAGE = 300

/** The tool and the one value that says most about the call. */
const callInWords = (event: Fields): string => {
  const tool = oneLine(text(event, "tool") ?? "tool", DOING)
  const about = aboutCall(event["input"])
  return about === undefined ? tool : oneLine(`${tool} ${about}`, DOING)
}

const withUsage = (activity: RunActivity, event: Fields): Partial<RunActivity> => {
  const cost = number(event, "cost_usd")
  return {
    inputTokens:
      activity.inputTokens +
      (number(event, "input_tokens") ?? 0) +
      (number(event, "cached_input_tokens") ?? 0),
    outputTokens: activity.outputTokens + (number(event, "output_tokens") ?? 0),
    costUsd: cost === undefined ? activity.costUsd : (activity.costUsd ?? 0) + cost,
  }
}
