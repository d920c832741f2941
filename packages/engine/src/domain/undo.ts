/**
 * What an undo should do: how far it goes, which files change and how, and which of them somebody else has changed. Pure.
 */
import type { Location } from "@meridian/protocol"

import type { FileRecord, PromptMark, Undoing } from "./transcript/undoing.ts"

/** A file in a tree: its mode and its content. */
export interface TreeEntry {
  readonly mode: string
  readonly object: string
}

/** How one path differs between two trees. Undefined: the file does not exist. */
export interface TreeChange {
  readonly path: string
  readonly before: TreeEntry | undefined
  readonly after: TreeEntry | undefined
}

/** Prompts that can be undone, oldest first. */
export const undoable = (
  { prompts, undone }: Undoing,
  { conversation }: { readonly conversation: boolean },
): readonly PromptMark[] => {
  if (conversation) return prompts
  // The files of a prompt may remain although the prompt left the conversation.
  return [...prompts, ...undone.flatMap((mark) => mark.prompts)]
    .filter(({ seq }) => !undone.some((mark) => mark.files && seq >= mark.from && seq <= mark.through))
    .toSorted((left, right) => left.seq - right.seq)
}

/** Finds a prompt by its number, from 1, or by its message id. */
export const findPrompt = (prompts: readonly PromptMark[], at: string | number): PromptMark | undefined => {
  const number = typeof at === "number" ? at : /^\d{1,9}$/.test(at) ? Number(at) : undefined
  return number === undefined ? prompts.find(({ id }) => id === at) : prompts[number - 1]
}

/** One turn that may have changed files. */
export interface FileWindow {
  readonly messageID: string
  readonly location: Location | undefined
  readonly named: { readonly before: readonly FileRecord[]; readonly after: FileRecord | undefined }
  readonly all: { readonly before: FileRecord | undefined; readonly after: FileRecord | undefined }
  readonly shared: boolean
}

/** Turns between two places of the log whose changes still stand. */
export const fileWindows = (
  { records, undone }: Undoing,
  { from, before }: { readonly from: number; readonly before: number },
): readonly FileWindow[] => {
  const standing = records.filter(
    ({ seq }) =>
      seq >= from &&
      seq < before &&
      !undone.some((mark) => mark.files && seq >= mark.from && seq <= mark.through),
  )
  return [...Map.groupBy(standing, ({ messageID }) => messageID)].map(([messageID, own]): FileWindow => {
    const find = (moment: string, scope: string): readonly FileRecord[] =>
      own.filter((record) => record.moment === moment && record.scope === scope)
    return {
      messageID,
      location: own[0]?.location,
      named: { before: find("before", "named"), after: find("after", "named").at(-1) },
      all: { before: find("before", "all")[0], after: find("after", "all").at(-1) },
      shared: own.some(({ shared }) => shared),
    }
  })
}

/** What one turn changed, and whether somebody else may have changed it. */
export interface TurnChanges {
  readonly changes: readonly TreeChange[]
  readonly isDoubtful: boolean
}

/** A file to restore. */
export interface Wish {
  readonly path: string
  readonly to: TreeEntry | undefined
  /** The state in which we left it. */
  readonly left: TreeEntry | undefined
  /** Somebody else changed it in between, or may have. */
  readonly isDoubtful: boolean
}

/** Joins the turns: `to` is each file before its first turn, `left` is the file after its last. */
export const joinChanges = (turns: readonly TurnChanges[]): readonly Wish[] => {
  const wishes = new Map<string, Wish>()
  for (const { changes, isDoubtful } of turns)
    for (const { path, before, after } of changes) {
      const earlier = wishes.get(path)
      const isBroken = earlier !== undefined && !isSameEntry(earlier.left, before)
      wishes.set(path, {
        path,
        to: earlier === undefined ? before : earlier.to,
        left: after,
        isDoubtful: isDoubtful || isBroken || earlier?.isDoubtful === true,
      })
    }
  return [...wishes.values()]
    .filter(({ to, left, isDoubtful }) => isDoubtful || !isSameEntry(to, left))
    .toSorted((left, right) => (left.path < right.path ? -1 : 1))
}

export interface Restoring {
  readonly writes: readonly Wish[]
  /** Changed by others since. Never overwritten without a question. */
  readonly changed: readonly string[]
}

export const decideRestoring = (wishes: readonly Wish[], now: ReadonlyMap<string, TreeEntry>): Restoring => {
  const differing = wishes.filter(({ path, to }) => !isSameEntry(now.get(path), to))
  const changed = differing.filter(
    ({ path, left, isDoubtful }) => isDoubtful || !isSameEntry(now.get(path), left),
  )
  return { writes: differing, changed: changed.map(({ path }) => path) }
}

export const isSameEntry = (left: TreeEntry | undefined, right: TreeEntry | undefined): boolean =>
  left?.mode === right?.mode && left?.object === right?.object
