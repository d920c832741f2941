/** What a run changed, as lines to show and to comment on. */
import { plainText } from "@meridian/protocol"
import type { CommentedLine, DiffFile, DiffHunk, RunDocument } from "@meridian/server/contract"

export interface NumberedLine {
  /** `note`: git's remark on the line before, such as a missing line break. */
  readonly kind: "same" | "added" | "removed" | "note"
  readonly text: string
  /** The line number in the old file, and in the file as the run left it. */
  readonly before?: number
  readonly after?: number
}

const KINDS: Readonly<Record<string, NumberedLine["kind"]>> = { "+": "added", "-": "removed", "\\": "note" }

export const numberedLines = ({ oldStart, newStart, lines }: DiffHunk): readonly NumberedLine[] => {
  let [before, after] = [oldStart, newStart]
  return lines.map((line) => {
    const kind = KINDS[line.charAt(0)] ?? "same"
    const text = plainText(line.length > LONGEST_LINE ? `${line.slice(1, LONGEST_LINE)}…` : line.slice(1))
    switch (kind) {
      case "note":
        return { kind, text }
      case "added":
        return { kind, text, after: after++ }
      case "removed":
        return { kind, text, before: before++ }
      case "same":
        return { kind, text, before: before++, after: after++ }
    }
  })
}

const LONGEST_LINE = 1_000

/** The subject of a comment on this line; undefined when it has no line number. */
export const placeOf = (path: string, line: NumberedLine): CommentedLine | undefined => {
  const number = line.after ?? line.before
  if (number === undefined) return undefined
  return {
    path,
    line: number,
    code: line.text,
    ...(line.after === undefined ? { removed: true } : {}),
  }
}

export const changeText = ({ change, oldPath, binary = false }: DiffFile): string => {
  const what = change === "modified" ? "" : change.replace("-", " ")
  const from = oldPath === undefined ? "" : ` from ${plainText(oldPath)}`
  return [`${what}${from}`, binary ? "binary" : ""].filter((text) => text !== "").join(", ")
}

export const totalsText = (files: readonly DiffFile[]): string => {
  const sum = (count: (file: DiffFile) => number): string =>
    files.reduce((total, file) => total + count(file), 0).toLocaleString()
  return `${counted(files.length, "file")}, +${sum(({ additions }) => additions)} −${sum(({ deletions }) => deletions)}`
}

/** What can be done with the work of a run now. */
export const workOf = (run: RunDocument): "none" | "under way" | "to take" | "staged" | "over" => {
  if (run.worktree === undefined) return "none"
  if (!ENDED.has(run.status)) return "under way"
  if (run.worktree.state === "open") return "to take"
  return run.worktree.state === "staged" ? "staged" : "over"
}

const ENDED: ReadonlySet<string> = new Set(["succeeded", "failed", "cancelled"])

export const isUnderWay = ({ status }: RunDocument): boolean => !ENDED.has(status)

/** Refused because of checks. A person may apply it anyway. */
export const isAboutChecks = (code: string): boolean =>
  code === "RUN_REFUTED" || code === "CHECKS_RED" || code === "CHECKS_UNKNOWN"

export const counted = (count: number, what: string): string =>
  `${count.toLocaleString()} ${what}${count === 1 ? "" : "s"}`
