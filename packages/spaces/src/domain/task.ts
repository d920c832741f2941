/**
 * The task of a run: the words of whoever asked. It is shown by its first line and pinned whole, up to a bound; what is
 * longer is cut with a pointer to its file. Nothing Meridian wraps around it is part of it.
 */
import { oneLine } from "@meridian/protocol"

/** What is pinned, of one task and of a first and a newest together. */
const PINNED_CHARACTERS = 2_000
const LINE_CHARACTERS = 200

/** In a record: enough for everything that is pinned or shown. */
export const recordedTask = (task: string): string => cut(task, PINNED_CHARACTERS)

/** `--task`, when it says something. */
export const declaredTask = (task: string | undefined): string | undefined => {
  const words = task?.trim() ?? ""
  return words === "" ? undefined : recordedTask(words)
}

export interface PinnedWords {
  readonly task: string
  /** Where the whole of it is. */
  readonly file: string
  /** Of the conversation this one goes on with. */
  readonly first?: string | undefined
}

export const pinnedTask = ({ task, file, first }: PinnedWords): string => {
  if (first === undefined || first === "" || first === task) return whole(task, PINNED_CHARACTERS, file)
  // Both must fit; the newest words may need what the first task leaves.
  const newest = whole(task, PINNED_CHARACTERS / 2, file)
  return `${cut(first, PINNED_CHARACTERS - newest.length - 2)}\n\n${newest}`
}

/** The first line that says something, for lists. */
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
