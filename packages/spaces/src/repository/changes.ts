/** What differs between two trees, file by file. */
import { git, type GitPlace } from "./git.ts"

export interface FileChange {
  readonly path: string
  /** Undefined if there is no such file. */
  readonly before: FileEntry | undefined
  readonly after: FileEntry | undefined
}

export interface FileEntry {
  readonly mode: string
  readonly blob: string
}

export const changesBetween = async (
  place: GitPlace,
  from: string,
  to: string,
): Promise<readonly FileChange[]> => {
  const answer = await git(place, ["diff-tree", "-r", "-z", "--no-renames", "--full-index", from, to])
  // `:mode mode blob blob X` and the path, each ended by a zero byte.
  const words = answer.split("\0")
  const changes: FileChange[] = []
  for (let at = 0; at + 1 < words.length; at += 2) {
    const [modeBefore = "", modeAfter = "", blobBefore = "", blobAfter = ""] = (words[at] ?? "")
      .slice(1)
      .split(" ")
    changes.push({
      path: words[at + 1] ?? "",
      before: entryOf(modeBefore, blobBefore),
      after: entryOf(modeAfter, blobAfter),
    })
  }
  return changes
}

const SUBMODULE = "160000"

/** A submodule is its own repository, not a file of ours. */
const entryOf = (mode: string, blob: string): FileEntry | undefined =>
  /^0+$/.test(mode) || mode === SUBMODULE ? undefined : { mode, blob }
