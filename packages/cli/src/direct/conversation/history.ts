/** What was said before, for whoever comes back to a conversation: the last messages, each within bounds. */
import type { Engine } from "@meridian/engine"
import type { AssistantPart, SessionMessage } from "@meridian/protocol"

import { cutTo, wrapText } from "./columns.ts"
import { count, describeCall } from "./describe.ts"
import { plainLine, plainText } from "./plain-text.ts"
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

const messageRows = (message: SessionMessage, width: number, style: Style): readonly string[] => {
  switch (message.type) {
    case "user":
      return ["", ...bounded(userRows(message.text, width, style), style)]
    case "assistant":
      return [
        ...message.content.flatMap((part) => partRows(part, width, style)),
        ...(message.error === undefined
          ? []
          : [style.bad(cutTo(`${message.error.code}: ${plainLine(message.error.message)}`, width))]),
      ]
    case "compaction":
      return [style.notice("The turns before this were compacted.")]
    case "agent-switched":
      return [style.dim(`Agent: ${plainLine(message.agent)}`)]
    case "model-switched":
      return [style.dim(`Model: ${plainLine(message.model)}`)]
    case "system":
      return []
  }
}

const partRows = (part: AssistantPart, width: number, style: Style): readonly string[] => {
  switch (part.type) {
    case "text":
      return bounded(wrapText(plainText(part.text).trimEnd(), width), style)
    case "reasoning":
      return []
    case "tool": {
      const title = cutTo(describeCall(part.tool, part.input ?? part.raw), width - 2)
      return [`${MARK[part.state.status](style)} ${title}`]
    }
  }
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
    : [...rows.slice(0, ROWS_PER_MESSAGE), style.dim(`… ${count(rows.length - ROWS_PER_MESSAGE)} rows more`)]
