/**
 * Identical calls in a row: the same tool, input and result, since a person last said something. Folded from the log, so
 * that neither a compaction nor a restart loses the count. A call refused as a repetition has no result and still extends
 * the row.
 */
import type { Json, RecordedContent } from "@meridian/protocol"

import type { LoggedEvent } from "../logged-event.ts"
import { sameJson } from "../same-json.ts"

/** One call. `input` is undefined when it was not JSON. */
export interface Made {
  readonly tool: string
  readonly input: Json | undefined
}

export type Result =
  | { readonly kind: "success"; readonly content: readonly RecordedContent[] }
  | { readonly kind: "failed"; readonly message: string }

export interface Row {
  readonly last: (Made & { readonly result: Result }) | undefined
  /** How often in a row the last call was made. */
  readonly count: number
  /** Local calls without an outcome, in the order they were made. */
  readonly open: readonly OpenMade[]
}

interface OpenMade extends Made {
  readonly messageID: string
  readonly callID: string
  readonly isRefused: boolean
}

export const NO_ROW: Row = { last: undefined, count: 0, open: [] }

export const isSameCall = (left: Made, right: Made): boolean =>
  left.tool === right.tool && sameJson(left.input, right.input)

/** Appended to a result to point out the repetition. Not part of the result itself. */
export const repetitionNote = (count: number): string =>
  `Note: this is the same call for the ${count}th time in a row. Use its result, or do something else.`

const NOTE =
  /(?:^|\n\n)Note: this is the same call for the \d+th time in a row\. Use its result, or do something else\.$/

/** How long the row would be if this call ended with this result. */
export const countWith = ({ last, count }: Row, made: Made, result: Result): number =>
  last !== undefined && isSameCall(last, made) && isSameResult(last.result, result) ? count + 1 : 1

export const foldRow = (row: Row, events: readonly LoggedEvent[]): Row => events.reduce(foldOne, row)

const foldOne = (row: Row, event: LoggedEvent): Row => {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest is neither a call nor said by a person
  switch (event.type) {
    case "session.next.prompt.promoted.1":
    case "session.next.prompted.1":
      return row.last === undefined ? row : { ...row, last: undefined, count: 0 }
    case "session.next.tool.called.1": {
      const { assistantMessageID: messageID, callID, tool, input, hosted } = event.data
      if (hosted === true) return row
      return { ...row, open: [...row.open, { messageID, callID, tool, input, isRefused: false }] }
    }
    case "session.next.repetition.noticed.1": {
      const { assistantMessageID: messageID, callID } = event.data
      const open = row.open.map((one) =>
        one.callID === callID && one.messageID === messageID ? { ...one, isRefused: true } : one,
      )
      return { ...row, open }
    }
    case "session.next.tool.success.1":
      return settle(row, event.data, { kind: "success", content: event.data.content })
    case "session.next.tool.failed.1":
      return settle(
        row,
        event.data,
        event.data.error.code === "interrupted"
          ? undefined
          : { kind: "failed", message: event.data.error.message },
      )
    default:
      return row
  }
}

const settle = (
  row: Row,
  ended: { readonly assistantMessageID: string; readonly callID: string },
  result: Result | undefined,
): Row => {
  const made = row.open.find(
    ({ messageID, callID }) => callID === ended.callID && messageID === ended.assistantMessageID,
  )
  if (made === undefined) return row
  const open = row.open.filter((one) => one !== made)
  // Calls made together with it count when they end.
  if (made.isRefused) return { ...row, open, count: open.length === 0 ? row.count + 1 : row.count }
  // Its result is unknown.
  if (result === undefined) return { ...row, open }
  const { tool, input } = made
  return { open, last: { tool, input, result }, count: countWith(row, made, result) }
}

const isSameResult = (left: Result, right: Result): boolean => {
  if (left.kind === "failed")
    return right.kind === "failed" && left.message.replace(NOTE, "") === right.message.replace(NOTE, "")
  if (right.kind === "failed") return false
  const [before, after] = [withoutNote(left.content), withoutNote(right.content)]
  return (
    before.length === after.length &&
    before.every((part, index) => sameJson({ ...part }, { ...after[index] }))
  )
}

const withoutNote = (content: readonly RecordedContent[]): readonly RecordedContent[] => {
  const last = content.at(-1)
  return last?.type === "text" && NOTE.test(last.text) ? content.slice(0, -1) : content
}
