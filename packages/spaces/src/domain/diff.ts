/** Parses the output of `git diff -z --raw --numstat --patch` into files with their hunks. */
export interface DiffHunk {
  readonly oldStart: number
  readonly oldLines: number
  readonly newStart: number
  readonly newLines: number
  /** The text git found above the hunk, usually the name of a function. */
  readonly heading: string
  /** With their first character: blank, `+`, `-`, or a backslash for a remark of git's. */
  readonly lines: readonly string[]
}

export const FILE_CHANGES = ["added", "deleted", "modified", "renamed", "copied", "type-changed"] as const

export interface FileDiff {
  readonly path: string
  readonly oldPath?: string | undefined
  readonly change: (typeof FILE_CHANGES)[number]
  readonly additions: number
  readonly deletions: number
  readonly isBinary: boolean
  readonly hunks: readonly DiffHunk[]
}

export const readDiff = (answer: string): readonly FileDiff[] => {
  const begin = answer.startsWith(PATCH) ? 0 : answer.indexOf(`\0${PATCH}`) + 1
  const facts = begin === 0 ? answer : answer.slice(0, begin)
  const patches = begin === 0 ? [] : answer.slice(begin).split(/^(?=diff --git )/m)
  const words = facts.split("\0")
  const files = readRaw(words)
  const counts = readCounts(words)
  return files.map((file, index) => {
    const count = counts[index]
    return {
      path: file.path,
      oldPath: file.oldPath,
      change: file.change,
      additions: Number(count?.additions) || 0,
      deletions: Number(count?.deletions) || 0,
      isBinary: count?.additions === "-",
      hunks: readHunks(patches[index] ?? ""),
    }
  })
}

const PATCH = "diff --git "

const CHANGES: Readonly<Record<string, FileDiff["change"]>> = {
  A: "added",
  D: "deleted",
  M: "modified",
  R: "renamed",
  C: "copied",
  T: "type-changed",
}

/** `:modes hashes X` and one path, or two paths for a rename or copy. */
const readRaw = (words: readonly string[]): readonly Pick<FileDiff, "path" | "oldPath" | "change">[] => {
  const files: Pick<FileDiff, "path" | "oldPath" | "change">[] = []
  for (let at = 0; words[at]?.startsWith(":") === true;) {
    const letter = /([A-Z])\d*$/.exec(words[at] ?? "")?.[1] ?? "M"
    const hasTwo = letter === "R" || letter === "C"
    const [first = "", second = ""] = [words[at + 1], words[at + 2]]
    files.push({
      path: hasTwo ? second : first,
      change: CHANGES[letter] ?? "modified",
      ...(hasTwo ? { oldPath: first } : {}),
    })
    at += hasTwo ? 3 : 2
  }
  return files
}

/** `additions TAB deletions TAB path`, in the same order. The two paths of a rename follow as words of their own. */
const readCounts = (
  words: readonly string[],
): readonly { readonly additions: string; readonly deletions: string }[] =>
  words.flatMap((word) => {
    const found = /^(\d+|-)\t(\d+|-)\t/.exec(word)
    return found === null ? [] : [{ additions: found[1] ?? "", deletions: found[2] ?? "" }]
  })

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/

const readHunks = (patch: string): readonly DiffHunk[] => {
  const hunks: (DiffHunk & { readonly lines: string[] })[] = []
  const lines = patch.split("\n")
  // The last line break ends a line and begins none.
  if (lines.at(-1) === "") lines.pop()
  for (const line of lines) {
    const found = HUNK.exec(line)
    if (found !== null)
      hunks.push({
        oldStart: Number(found[1]),
        oldLines: Number(found[2] ?? 1),
        newStart: Number(found[3]),
        newLines: Number(found[4] ?? 1),
        heading: found[5] ?? "",
        lines: [],
      })
    else hunks.at(-1)?.lines.push(line)
  }
  return hunks
}
