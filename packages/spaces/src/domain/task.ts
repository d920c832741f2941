/**
 * The task of a run: the caller's words. It is shown by its first line and pinned whole, up to a bound. A longer task
 * is cut, with a pointer to its file. Nothing Meridian wraps around it is part of it.
 */
import { oneLine } from "@meridian/protocol"

/** How much is pinned of one task, or of a first and a newest together. */
const PINNED_CHARACTERS = 2_000
const LINE_CHARACTERS = 200

/** The task in a record: enough for everything that is pinned or shown. */
export const recordedTask = (task: string): string => cut(task, PINNED_CHARACTERS)

/** `--task`, unless it is blank. */
export const declaredTask = (task: string | undefined): string | undefined => {
  const words = task?.trim() ?? ""
  return words === "" ? undefined : recordedTask(words)
}

export interface PinnedWords {
  readonly task: string
  /** The file with the whole task. */
  readonly file: string
  /** The first task of the conversation this one continues. */
  readonly first?: string | undefined
}

export const pinnedTask = ({ task, file, first }: PinnedWords): string => {
  if (first === undefined || first === "" || first === task) return whole(task, PINNED_CHARACTERS, file)
  // Both must fit. The newest words get half, and the first task the rest.
  const newest = whole(task, PINNED_CHARACTERS / 2, file)
  return `${cut(first, PINNED_CHARACTERS - newest.length - 2)}\n\n${newest}`
}

/** The first line that is not blank, for lists. */
export const taskLine = (task: string): string =>
  oneLine(task.split("\n").find((line) => line.trim() !== "") ?? "", LINE_CHARACTERS)

const whole = (task: string, most: number, file: string): string => {
  if (task.length <= most) return task
  const pointer = `\n[the rest is in ${file}]`
  return `${cut(task, most - pointer.length)}${pointer}`
}

const cut = (text: string, most: number): string =>
  text.length <= most
    ? text
    : `${text
        .slice(0, most - 1)
        .toWellFormed()
        .trimEnd()}…`
