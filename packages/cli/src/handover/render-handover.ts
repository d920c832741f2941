/**
 * What an agent is told when it takes over a task: state, calls, last words, git. It comes before the task, so
 * everything from models, tools and files is quoted line by line and cannot pass for anything else. Pure.
 */
import { cutLine, quoteLine } from "@meridian/continuity"

import type { DoneCalls } from "./done-calls.ts"

export interface HandoverParts {
  /** Names of the conversations, oldest first. */
  readonly held: readonly string[]
  /** Conversations that could not be read, each with the reason. */
  readonly unread: readonly string[]
  /** The pinned state, as after a compaction. */
  readonly state: string
  readonly calls: DoneCalls
  readonly lastWords: string
  readonly git: string
}

const MOST = { calls: 60, failed: 12, words: 40, wordLength: 600, line: 240, git: 60 } as const

export const renderHandover = (parts: HandoverParts): string => {
  const { calls } = parts
  const sections = [
    parts.state,
    list(
      "Calls that succeeded",
      "They are done. Do not make them again.",
      lastOf(calls.succeeded, MOST.calls, calls.looks === 0 ? [] : [`${calls.looks} more that only looked`]),
    ),
    list("Calls that failed", undefined, lastOf(calls.failed, MOST.failed)),
    list(
      "Calls without a recorded end",
      "They may have happened: look before you make them again.",
      lastOf(calls.open, MOST.failed),
    ),
    quoted("Last words of the agent before you", parts.lastWords),
    quoted("git status", parts.git, MOST.git),
    list("Not read", undefined, parts.unread),
  ].filter((section) => section !== "")
  return sections.length === 0
    ? ""
    : [`# What was done before\n\n${heldLine(parts.held)}`, ...sections].join("\n\n")
}

const heldLine = (held: readonly string[]): string =>
  held.length === 0 ? "By agents before you." : `In ${held.join(", then ")}.`

const list = (heading: string, note: string | undefined, items: readonly string[]): string =>
  items.length === 0
    ? ""
    : [
        `## ${heading}`,
        ...(note === undefined ? [] : [note]),
        ...items.map((item) => `- ${quoteLine(item, MOST.line)}`),
      ].join("\n")

/** The newest, and how many more there were. */
const lastOf = (items: readonly string[], most: number, more: readonly string[] = []): readonly string[] => [
  ...(items.length > most ? [`${items.length - most} earlier ones`] : []),
  ...items.slice(-most),
  ...more,
]

const quoted = (heading: string, text: string, most: number = MOST.words): string => {
  const lines = text
    .split("\n")
    .map((line) => quoteLine(line, MOST.wordLength))
    .filter((line) => line !== "")
  if (lines.length === 0) return ""
  const kept = lines.slice(-most)
  const cut = lines.length > kept.length ? ["> …"] : []
  return [`## ${heading}`, ...cut, ...kept.map((line) => `> ${cutLine(line, MOST.wordLength)}`)].join("\n")
}
