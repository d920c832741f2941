/** Earlier messages, for a person who returns to a conversation: the newest ones, each within bounds. */
import type { Engine } from "@meridian/engine"
import { oneLine, type AssistantPart, type Json, type Receipt, type SessionMessage } from "@meridian/protocol"

import { cutTo, widthOf, wrapText } from "./columns.ts"
import { count, describeCall, several } from "./describe.ts"
import { openMarkdownRows } from "./markdown-rows.ts"
import { plainText } from "./plain-text.ts"
import type { Style } from "./style.ts"
import { userRows } from "./view.ts"

export interface History {
  /** Oldest first. */
  readonly messages: readonly SessionMessage[]
  readonly leftOut: number
}

const SHOWN = 20
const COUNTED = 10_000
const PAGE = 200
const ROWS_PER_MESSAGE = 16

export const readHistory = async ({ sessions }: Engine, sessionID: string): Promise<History> => {
  const first = await sessions.messages({ sessionID, order: "desc", limit: SHOWN })
  let leftOut = 0
  let cursor = first.next
  while (cursor !== undefined && leftOut < COUNTED) {
    const page = await sessions.messages({ sessionID, order: "desc", limit: PAGE, cursor })
    leftOut += page.items.length
    cursor = page.next
  }
  return { messages: first.items.toReversed(), leftOut }
}

/** The input of a call that still waits. Pure. */
export const inputOf = ({ messages }: History, callID: string): Json | undefined =>
  messages
    .flatMap((message) => (message.type === "assistant" ? message.content : []))
    .flatMap((part) => (part.type === "tool" && part.callID === callID ? [part] : []))
    .at(-1)?.input

/** Pure. */
export const historyRows = (
  { messages, leftOut }: History,
  { width, style }: { readonly width: number; readonly style: Style },
): readonly string[] => [
  ...(leftOut === 0
    ? []
    : [
        style.dim(
          `… ${leftOut >= COUNTED ? "at least " : ""}${count(leftOut)} earlier message${leftOut === 1 ? " is" : "s are"} not shown`,
        ),
      ]),
  ...messages.flatMap((message) => messageRows(message, width, style)),
]

const SHOWN_WAITING = 5

/** Inputs from before that no turn has taken up. Pure. */
export const waitingRows = (
  inputs: readonly Pick<Receipt, "prompt">[],
  { width, style }: { readonly width: number; readonly style: Style },
): readonly string[] => {
  if (inputs.length === 0) return []
  const isOne = inputs.length === 1
  const says = `${several(inputs.length, "message")} ${isOne ? "waits" : "wait"}; your next message takes ${isOne ? "it" : "them"} along:`
  const more = inputs.length - SHOWN_WAITING
  return [
    ...wrapText(says, width).map(style.notice),
    ...inputs
      .slice(0, SHOWN_WAITING)
      .map(({ prompt }) => style.dim(cutTo(`  > ${oneLine(prompt.text)}`, width))),
    ...(more > 0 ? [style.dim(`  … and ${count(more)} more`)] : []),
  ]
}

const messageRows = (message: SessionMessage, width: number, style: Style): readonly string[] => {
  switch (message.type) {
    case "user":
      return ["", ...bounded(userRows(message.text, width, style), style)]
    case "assistant":
      return [
        ...message.content.flatMap((part) => partRows(part, width, style)),
        ...(message.error === undefined
          ? []
          : [style.bad(cutTo(`${message.error.code}: ${oneLine(message.error.message)}`, width))]),
      ]
    case "compaction":
      return [style.notice("The turns before this were compacted.")]
    case "agent-switched":
      return [style.dim(`Agent: ${oneLine(message.agent)}`)]
    case "model-switched":
      return [style.dim(`Model: ${oneLine(message.model)}`)]
    case "synthetic":
      return bounded(
        wrapText(`(added by a program) ${plainText(message.text).trimEnd()}`, width).map(style.dim),
        style,
      )
    case "system":
      return []
  }
}

const partRows = (part: AssistantPart, width: number, style: Style): readonly string[] => {
  switch (part.type) {
    case "text":
      return bounded(spokenRows(plainText(part.text).trimEnd(), width, style), style)
    case "reasoning":
      return []
    case "tool": {
      const title = describeCall(part.tool, part.input ?? part.raw)
      const { state } = part
      const said = state.status === "error" ? withReason(title, state.error.message, width - 2) : title
      return [`${MARK[state.status](style)} ${cutTo(said, width - 2)}`]
    }
  }
}

/** Laid out as it was when it was written. */
const spokenRows = (text: string, width: number, style: Style): readonly string[] => {
  const markdown = openMarkdownRows(style)
  return [...text.split("\n").flatMap((line) => markdown.line(line, width)), ...markdown.end(width)]
}

/** A long call leaves half the row to the reason. */
const withReason = (title: string, reason: string, width: number): string => {
  const why = `: ${oneLine(reason)}`
  return cutTo(title, Math.max(Math.floor(width / 2), width - widthOf(why))) + why
}

const MARK = {
  running: (style: Style) => style.dim("…"),
  waiting: (style: Style) => style.notice("?"),
  completed: (style: Style) => style.good("✓"),
  error: (style: Style) => style.bad("✗"),
} as const

const bounded = (rows: readonly string[], style: Style): readonly string[] =>
  rows.length <= ROWS_PER_MESSAGE
    ? rows
    : [
        ...rows.slice(0, ROWS_PER_MESSAGE),
        style.dim(`… ${several(rows.length - ROWS_PER_MESSAGE, "row")} more`),
      ]
