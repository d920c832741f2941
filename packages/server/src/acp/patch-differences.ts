/**
 * A patch in the format of the tool `apply_patch` (`*** Update File:` and so on), as pairs of old and new text. Pure and
 * lenient: it shows what a model asked for, and the tool itself decides whether that fits.
 */
export interface PatchDifference {
  readonly path: string
  /** The earlier path of a moved file. */
  readonly from?: string
  /** Absent: the file is new. */
  readonly before?: string
  readonly after: string
}

export const patchDifferences = (patch: string): readonly PatchDifference[] => {
  const differences: PatchDifference[] = []
  let path: string | undefined
  let from: string | undefined
  let kind: "add" | "update" | "delete" = "update"
  let before: string[] = []
  let after: string[] = []

  const finish = (isShownAnyway = false): void => {
    const isNothing = before.length === 0 && after.length === 0
    if (path !== undefined && (!isNothing || isShownAnyway))
      differences.push({
        path,
        ...(from === undefined ? {} : { from }),
        ...(kind === "add" ? {} : { before: text(before) }),
        after: text(after),
      })
    before = []
    after = []
  }

  const isOnlyMoved = (): boolean => from !== undefined && differences.at(-1)?.path !== path

  for (const line of patch.split("\n")) {
    const [, verb = "", named = ""] = HEADER.exec(line) ?? []
    if (verb !== "") {
      finish(isOnlyMoved())
      from = undefined
      kind = verb === "Add" ? "add" : verb === "Delete" ? "delete" : "update"
      path = named.trim()
      if (kind === "delete") {
        finish(true)
        path = undefined
      }
    } else if (line.startsWith(MOVE)) [from, path] = [path, line.slice(MOVE.length).trim()]
    else if (line.startsWith("***")) continue
    else if (line.startsWith("@@")) finish()
    else if (line.startsWith("+")) after.push(line.slice(1))
    else if (line.startsWith("-")) before.push(line.slice(1))
    else if (path !== undefined && kind === "update") {
      const same = line.startsWith(" ") ? line.slice(1) : line
      before.push(same)
      after.push(same)
    }
  }
  finish(isOnlyMoved())
  return differences
}

const MOVE = "*** Move to:"
const HEADER = /^\*\*\* (Add|Update|Delete) File: (.+)$/

const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("")
