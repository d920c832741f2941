/**
 * The task: the user's own words, without what Meridian wraps around them, and later sentences that changed a value in it.
 */
import { sentencesOf } from "./sentence.ts"
import { changesAttribute, isAbout, isChange, type ReadTopic } from "./topic.ts"

export const TASK_LIMITS = { length: 8_000, changes: 8 } as const

/** The start of our own notes to an agent. They are never a task, a constraint or a request. */
export const MERIDIAN_NOTE = "[meridian]"

/** What a person asked for in this message; undefined when the message asks for nothing. */
export const taskIn = (text: string): string | undefined => {
  const asked = withoutWrapping(text).trim()
  if (asked === "" || asked.startsWith(MERIDIAN_NOTE) || HOST_COMMAND.test(asked) || asked.startsWith("! "))
    return undefined
  return asked
}

/** A greeting opens a conversation but is not a request. */
export const isGreeting = (text: string): boolean =>
  /^(?:hi|hello|hey|yo|ping|test|good (?:morning|afternoon|evening)|thanks?|thank you)[\s!.,]*$/i.test(text)

/**
 * A run's prompt follows skills, profile, references and the report instructions. The report instructions come last, so the
 * task follows them.
 */
const withoutWrapping = (text: string): string => {
  const at = text.lastIndexOf(REPORT)
  if (at === -1) return text
  const end = text.indexOf("\n\n", at + REPORT.length)
  return end === -1 ? "" : text.slice(end + 2)
}

const REPORT = "# Report\n\nYour final message is the report of this run"

/** Commands to the host itself, which say nothing about the work. */
const HOST_COMMAND =
  /^\/(?:compact|clear|model|help|resume|status|cost|config|login|logout|mcp|hooks|permissions|exit|quit|memory|doctor|context|usage|agents|ide|vim|theme|export|rename|effort|fast|new|undo|redo|sessions|share|unshare|details|editor|models|themes)\b/i

/** Sentences of a later message that change something the task mentions. */
export const changesOfTask = (task: string, message: string, readTopic: ReadTopic): readonly string[] => {
  const parts = sentencesOf(task).map(readTopic)
  return sentencesOf(message).filter((sentence) => {
    if (/\?["')]*$/.test(sentence)) return false
    const now = readTopic(sentence)
    return parts.some((then) => changesAttribute(now, then) || (isChange(sentence) && isAbout(now, then)))
  })
}
