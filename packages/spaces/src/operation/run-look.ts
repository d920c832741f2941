/** What a run is about and what it does, seen from outside: through its prompt and its events. */
import { oneLine } from "@meridian/protocol"

import { LIMIT } from "../domain/limit.ts"
import { promptItself } from "../domain/prompt-text.ts"
import {
  followActivity,
  NO_ACTIVITY,
  shortCount,
  shortTime,
  type RunActivity,
} from "../domain/run-activity.ts"
import { isEnded, type Run } from "../domain/run.ts"
import { taskLine } from "../domain/task.ts"
import { readDocument } from "../store/document.ts"
import { tailEvents } from "../store/event-tail.ts"
import { runPlace, type SpacePlace } from "../store/place.ts"
import { dollars, sparse } from "./run-document.ts"
import type { ActivityDocument } from "./run-schema.ts"

export interface RunView {
  readonly run: Run
  readonly task: string
  readonly activity: RunActivity
}

/** The first line of the task. Older runs have it only in their prompt, after the text wrapped around it. */
export const taskOf = (space: SpacePlace, run: Pick<Run, "id" | "task">): string =>
  taskLine(run.task ?? promptItself(readDocument(runPlace(space, run.id).prompt, LIMIT.promptBytes) ?? ""))

/** Time since it started, or how long it took. */
export const elapsedSecs = (run: Run, nowMs: number): number => {
  if (run.end !== undefined) return run.end.durationSecs ?? 0
  const started = Date.parse(run.startedAt)
  return Number.isNaN(started) ? 0 : Math.max(0, Math.round(nowMs - started) / 1000)
}

/** Can be called again and again. Reads only what is new. */
export const watchRun = (space: SpacePlace, id: Run["id"]): ((run: Run) => RunView) => {
  const tail = tailEvents(runPlace(space, id).events)
  let task: string | undefined
  let activity = NO_ACTIVITY
  return (run) => {
    for (const event of tail.read()) activity = followActivity(activity, event)
    task ??= taskOf(space, run)
    return { run, task, activity }
  }
}

/** What it does now. Undefined once it has ended. */
export const doing = ({ run, activity }: RunView): string | undefined => {
  if (isEnded(run)) return undefined
  if (run.status === "waiting" || run.status === "paused") return standing(run)
  return activity.doing ?? (run.status === "queued" ? "queued" : "starting")
}

/** `waiting until 2026-11-19 18:09 (limit)`, in the reader's local time. */
export const standing = ({ status, waitingUntil, waitingFor }: RunStanding): string => {
  const until = waitingUntil === undefined ? Number.NaN : Date.parse(waitingUntil)
  const time = Number.isNaN(until)
    ? ""
    : ` until ${new Date(until).toLocaleString("sv-SE", { dateStyle: "short", timeStyle: "short" })}`
  return `${status}${time}${waitingFor === undefined ? "" : ` (${waitingFor})`}`
}

export type RunStanding = Pick<Run, "status" | "waitingUntil" | "waitingFor">

/** What it did last, whether or not it still works. Undefined before its first sign of life. */
export const activityDocument = (view: RunView): ActivityDocument | undefined => {
  const { said, tool, at } = view.activity
  const line = said ?? doing(view)
  return line === undefined && tool === undefined ? undefined : sparse({ line, tool, at })
}

/** One line for a terminal: task, what it does now, tools, tokens, cost, time. */
export const liveLine = (view: RunView, nowMs: number): string => {
  const { run, task, activity } = view
  const { tools, inputTokens, outputTokens, costUsd } = activity
  return [
    `${run.id} ${shortTime(elapsedSecs(run, nowMs))}`,
    doing(view) ?? run.status,
    ...(task === "" ? [] : [oneLine(task, LINE_TASK)]),
    ...(tools === 0 ? [] : [`${tools} ${tools === 1 ? "tool" : "tools"}`]),
    ...(inputTokens + outputTokens === 0
      ? []
      : [`${shortCount(inputTokens)} in ${shortCount(outputTokens)} out`]),
    ...(costUsd === undefined ? [] : [dollars(costUsd, 2)]),
  ].join(" · ")
}

const LINE_TASK = 40
