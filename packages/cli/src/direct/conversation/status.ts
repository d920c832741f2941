/** The rows that show the state: while the agent works, and when it is done. Pure. */
import type { ModelConfig } from "@meridian/engine"
import { shortCount, shortTime } from "@meridian/spaces"

import { cutTo, wrapText } from "./columns.ts"
import { describeSpent, isPriced, type Spent } from "./describe.ts"
import { answersTo } from "./question.ts"
import type { Style } from "./style.ts"

export interface Progress {
  readonly stopping: boolean
  readonly waiting: number
  readonly elapsedMs: number
  /** What this work has used so far. */
  readonly spent: Spent
}

export const statusRow = (
  { stopping, waiting, elapsedMs, spent }: Progress,
  { width, style }: { readonly width: number; readonly style: Style },
): string => {
  const text = stopping ? "Stopping; Ctrl-C again leaves." : "Working; Ctrl-C stops it, Enter adds to it."
  const read = spent.input + spent.cached
  const figures = [
    shortTime(elapsedMs / 1_000),
    ...(read + spent.output === 0 ? [] : [`${shortCount(read)} in ${shortCount(spent.output)} out`]),
  ].join(", ")
  return style.dim(cutTo(`${text} ${figures}.${waiting === 0 ? "" : ` ${inputs(waiting)}.`}`, width))
}

export const LEAVING = "Ctrl-C again leaves; any other key stays."

export const hintFor = ({
  action,
  explaining,
  draft,
}: {
  /** What the question is about. */
  readonly action: string
  readonly explaining: boolean
  readonly draft: string
}): string => {
  if (explaining) return "Say why and press Enter; Esc goes back."
  return draft === "" ? answersTo(action) : "Send or clear (Ctrl-U) what you are writing, then answer."
}

export interface Settled {
  readonly spent: Spent
  readonly context: number
  /** The model of the last turn. */
  readonly model: string
  readonly waiting: number
  /** The failure, if it was not shown yet. */
  readonly failure: string | undefined
}

export const settledRows = (
  { spent, context, model, waiting, failure }: Settled,
  {
    models,
    width,
    style,
  }: { readonly models: readonly ModelConfig[]; readonly width: number; readonly style: Style },
): readonly string[] => {
  const window = models.find(({ id }) => id === model)?.contextWindow
  const figures = describeSpent(spent, {
    priced: isPriced(models, model),
    ...(window === undefined ? {} : { context, window }),
  })
  return [
    ...(failure === undefined ? [] : wrapText(failure, width).map(style.bad)),
    ...(spent.input + spent.cached + spent.output === 0 ? [] : wrapText(figures, width).map(style.dim)),
    ...(waiting === 0
      ? []
      : wrapText(
          `${inputs(waiting)}; your next message takes ${waiting === 1 ? "it" : "them"} along.`,
          width,
        ).map(style.notice)),
  ]
}

const inputs = (count: number): string => (count === 1 ? "1 input waits" : `${count} inputs wait`)
