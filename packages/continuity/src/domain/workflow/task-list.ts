/**
 * tasks.md: checkboxes under batch headings.
 *
 *     ## Batch 1 — Foundation
 *     - [x] 1. Parse SESSION.md          also "*", "+", "1. [ ] title", "[X]", nested, "1.2 title", "**1.2** title"
 *     - [ ] 2. Build the brief
 */
import type { Line } from "../markdown/line.ts"
import { isTakenBack } from "../session/absence.ts"
import type { Document } from "./stage.ts"

export interface TaskList {
  readonly done: readonly string[]
  readonly open: readonly string[]
  /** The batch of the first open task. */
  readonly batch: string | undefined
}

export const readTaskList = ({ lines }: Document): TaskList => {
  const done: string[] = []
  const open: string[] = []
  let batch: { readonly label: string; readonly level: number } | undefined
  let firstBatch: string | undefined
  for (const line of lines) {
    if (line.kind === "heading") {
      if (isBatch(line.text)) batch = { label: withoutEmphasis(line.text), level: line.level }
      else if (batch !== undefined && line.level <= batch.level) batch = undefined
      continue
    }
    if (line.box === undefined || line.text === "" || isTakenBack(line.text)) continue
    const task = renderTask(line, batch?.label)
    if (isDone(line.box)) done.push(task)
    else {
      if (open.length === 0) firstBatch = batch?.label
      open.push(task)
    }
  }
  return { done, open, batch: firstBatch }
}

const isBatch = (heading: string): boolean => /^[*_]{0,2}(?:batch|phase|wave|milestone)\b/i.test(heading)

const isDone = (box: string): boolean => "xX✓✔☑".includes(box)

/** `2.1 — Title (Batch 1 — Foundation)` */
const renderTask = (line: Line, batch: string | undefined): string => {
  const text = withoutEmphasis(line.text)
  const numbered = /^(?:task )?(\d{1,6}(?:\.\d{1,6}){0,7})(?:[.):]+(?=\s|$)|\s+[—–:-](?=\s)|(?=\s))\s*/i.exec(
    text,
  )
  const id = numbered?.[1] ?? line.number
  const title = numbered === null ? text : text.slice(numbered[0].length)
  const named = id === undefined ? title : `${id} — ${title}`
  return batch === undefined ? named : `${named} (${batch})`
}

/** Removes bold type at the start and around the first word. Code spans stay. */
const withoutEmphasis = (text: string): string => text.replaceAll("**", "").trim()
