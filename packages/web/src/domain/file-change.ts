/**
 * What a call changes in files, as lines to show. Read from the call's input, so it is available before the call has run.
 */
import { changeInCall, plainText, type Json, type ToolKind } from "@meridian/protocol"

export interface FileChange {
  readonly lines: readonly DiffLine[]
  readonly added: number
  readonly removed: number
  /** How many lines are left out. */
  readonly hidden: number
}

export interface DiffLine {
  /** `gap`: unchanged lines that are left out. `file`: the name of the file that follows. */
  readonly kind: "same" | "added" | "removed" | "gap" | "file"
  readonly text: string
}

/** Undefined when the input shows no change of a file. */
export const fileChangeOf = (
  { tool, kind }: { readonly tool: string; readonly kind?: ToolKind | undefined },
  input: Json | undefined,
): FileChange | undefined => {
  const { path, before, after, content, patch } = changeInCall(input)
  if (patch?.startsWith("*** Begin Patch") === true) return bounded(patchLines(patch))
  if (path === undefined) return undefined
  const file: DiffLine = { kind: "file", text: path }
  if (before !== undefined && after !== undefined) return bounded([file, ...folded(diffLines(before, after))])
  if ((kind !== "edit" && !/write|create/i.test(tool)) || content === undefined) return undefined
  return bounded([file, ...linesOf(content).map((text): DiffLine => ({ kind: "added", text }))])
}

const MOST_LINES = 400
const MOST_CHARACTERS = 400

const bounded = (lines: readonly DiffLine[]): FileChange => ({
  lines: lines.slice(0, MOST_LINES).map(({ kind, text }) => ({
    kind,
    text: plainText(text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text),
  })),
  added: lines.filter(({ kind }) => kind === "added").length,
  removed: lines.filter(({ kind }) => kind === "removed").length,
  hidden: Math.max(0, lines.length - MOST_LINES),
})

const linesOf = (text: string): readonly string[] => (text === "" ? [] : text.replace(/\n$/, "").split("\n"))

const KIND_OF_SIGN: Readonly<Record<string, DiffLine["kind"]>> = { "+": "added", "-": "removed", " ": "same" }

/** A patch already contains the change. Its lines only need their kinds. */
const patchLines = (patch: string): readonly DiffLine[] =>
  linesOf(patch).flatMap((line): readonly DiffLine[] => {
    const [, verb = "", path = ""] = /^\*\*\* (Add|Update|Delete) File: (.*)$/.exec(line) ?? []
    if (verb !== "")
      return [{ kind: "file", text: verb === "Update" ? path : `${path} (${verb.toLowerCase()})` }]
    if (line.startsWith("*** Move to: ")) return [{ kind: "file", text: line.slice(4) }]
    if (line.startsWith("*** ")) return []
    if (line.startsWith("@@")) return [{ kind: "gap", text: line.slice(2).trim() }]
    const kind = KIND_OF_SIGN[line.charAt(0)]
    return [kind === undefined ? { kind: "same", text: line } : { kind, text: line.slice(1) }]
  })

/** Only up to this many lines are compared one by one. A longer middle is shown as replaced. */
const MOST_COMPARED = 300

export const diffLines = (before: string, after: string): readonly DiffLine[] => {
  const [old, now] = [linesOf(before), linesOf(after)]
  let head = 0
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1
  let tail = 0
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail))
    tail += 1
  const same = (lines: readonly string[]) => lines.map((text): DiffLine => ({ kind: "same", text }))
  return [
    ...same(old.slice(0, head)),
    ...middle(old.slice(head, old.length - tail), now.slice(head, now.length - tail)),
    ...same(old.slice(old.length - tail)),
  ]
}

/** Uses the longest common subsequence: a table of what is left from each position on. */
const middle = (old: readonly string[], now: readonly string[]): readonly DiffLine[] => {
  const removed = old.map((text): DiffLine => ({ kind: "removed", text }))
  const added = now.map((text): DiffLine => ({ kind: "added", text }))
  if (old.length > MOST_COMPARED || now.length > MOST_COMPARED) return [...removed, ...added]
  const width = now.length + 1
  const common = new Uint16Array((old.length + 1) * width)
  const at = (row: number, column: number): number => common[row * width + column] ?? 0
  for (let row = old.length - 1; row >= 0; row -= 1)
    for (let column = now.length - 1; column >= 0; column -= 1)
      common[row * width + column] =
        old[row] === now[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1))
  const lines: DiffLine[] = []
  let [row, column] = [0, 0]
  while (row < old.length || column < now.length) {
    const [one, other] = [removed[row], added[column]]
    if (one !== undefined && other !== undefined && one.text === other.text) {
      lines.push({ kind: "same", text: one.text })
      row += 1
      column += 1
    } else if (one !== undefined && (other === undefined || at(row + 1, column) >= at(row, column + 1))) {
      lines.push(one)
      row += 1
    } else if (other !== undefined) {
      lines.push(other)
      column += 1
    }
  }
  return lines
}

/** Unchanged lines shown around a change. */
const CONTEXT = 3

/** Long unchanged stretches become one line. */
const folded = (lines: readonly DiffLine[]): readonly DiffLine[] => {
  const isNear = lines.map((_, index) =>
    lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(({ kind }) => kind !== "same"),
  )
  const result: DiffLine[] = []
  let skipped = 0
  const close = (): void => {
    if (skipped > 0)
      result.push({ kind: "gap", text: skipped === 1 ? "1 unchanged line" : `${skipped} unchanged lines` })
    skipped = 0
  }
  for (const [index, line] of lines.entries()) {
    if (isNear[index] === true) {
      close()
      result.push(line)
    } else skipped += 1
  }
  close()
  return result
}
