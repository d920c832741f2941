/**
 * A patch in the form the tool `apply_patch` takes (`*** Update File:` and so on), as the two sides of each of its pieces.
 * Pure, and lenient: it shows what a model asked for, the tool itself decides whether that fits.
 */
export interface PatchDifference {
  readonly path: string
  /** Absent: the file is new. */
  readonly before?: string
  readonly after: string
}

export const patchDifferences = (patch: string): readonly PatchDifference[] => {
  const differences: PatchDifference[] = []
  let path: string | undefined
  let kind: "add" | "update" | "delete" = "update"
  let before: string[] = []
  let after: string[] = []

  const finish = (): void => {
    const isNothing = before.length === 0 && after.length === 0
    if (path !== undefined && (!isNothing || kind === "delete"))
      differences.push({
        path,
        ...(kind === "add" ? {} : { before: text(before) }),
        after: text(after),
      })
    before = []
    after = []
  }

  for (const line of patch.split("\n")) {
    const [, verb = "", named = ""] = HEADER.exec(line) ?? []
    if (verb !== "") {
      finish()
      kind = verb === "Add" ? "add" : verb === "Delete" ? "delete" : "update"
      path = named.trim()
      if (kind === "delete") {
        finish()
        path = undefined
      }
    } else if (line.startsWith("*** Move to: ")) path = line.slice("*** Move to: ".length).trim()
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
  finish()
  return differences
}

const HEADER = /^\*\*\* (Add|Update|Delete) File: (.+)$/

const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("")
