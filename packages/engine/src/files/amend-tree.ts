/** A tree with a few changed files: reads only the folders above them and writes those anew. */
import type { TreeEntry } from "../domain/undo.ts"
import { FilesProblem } from "../port/file-trees.ts"
import { callGit, type GitFolder } from "./call-git.ts"
import { FOLDER, type LooseObjects } from "./loose-objects.ts"

type Level = Map<string, TreeEntry>

export const amendTree = async (
  git: GitFolder,
  {
    tree,
    changes,
    objects,
    env,
  }: {
    readonly tree: string
    /** By path. Undefined: the file is gone. No path has a line break. */
    readonly changes: ReadonlyMap<string, TreeEntry | undefined>
    readonly objects: Pick<LooseObjects, "writeLevel">
    readonly env: GitFolder["env"]
  },
): Promise<string> => {
  const folders = [...new Set([...changes.keys()].flatMap(foldersAbove))]
  const input = folders.map((folder) => `${tree}:${folder}\n`).join("")
  const { bytes } = await callGit(git, ["cat-file", "--batch"], { env, input })
  const levels = readLevels(bytes, folders)

  const writeFolder = async (folder: string): Promise<string | undefined> => {
    const level = levels.get(folder) ?? new Map<string, TreeEntry>()
    const own = [...changes].flatMap(([path, entry]) =>
      folderOf(path) === folder ? [[nameOf(path), entry] as const] : [],
    )
    // A file may have become a folder, or a folder a file.
    for (const [name, entry] of own) if (entry === undefined) level.delete(name)
    for (const child of folders.filter((one) => one !== "" && folderOf(one) === folder)) {
      // oxlint-disable-next-line eslint/no-await-in-loop -- a handful of small files
      const object = await writeFolder(child)
      if (object !== undefined) level.set(nameOf(child), { mode: FOLDER, object })
      else if (level.get(nameOf(child))?.mode === FOLDER) level.delete(nameOf(child))
    }
    for (const [name, entry] of own) if (entry !== undefined) level.set(name, entry)
    return level.size === 0 && folder !== "" ? undefined : objects.writeLevel(level)
  }

  return (await writeFolder("")) ?? tree
}

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")))

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1)

/** Includes the top, which is "". */
const foldersAbove = (path: string): readonly string[] => {
  const folder = folderOf(path)
  return folder === "" ? [""] : [...foldersAbove(folder), folder]
}

/**
 * One answer each, in order: `ID tree SIZE`, a line break, the bytes, a line break; or a line that reports a missing tree.
 */
const readLevels = (answer: Buffer, folders: readonly string[]): Map<string, Level> => {
  const levels = new Map<string, Level>()
  let at = 0
  for (const folder of folders) {
    const end = answer.indexOf("\n", at)
    if (end === -1) throw new FilesProblem("git cat-file said less than it was asked")
    const [id = "", kind, size] = answer.toString("utf8", at, end).split(" ")
    at = end + 1
    if (size === undefined || !/^\d+$/.test(size)) continue
    const bytes = Number(size)
    if (kind === "tree") levels.set(folder, readLevel(answer.subarray(at, at + bytes), id.length / 2))
    at += bytes + 1
  }
  return levels
}

/** `MODE NAME`, a zero, the id. */
const readLevel = (content: Buffer, idBytes: number): Level => {
  const level: Level = new Map()
  for (let at = 0; at < content.length;) {
    const blank = content.indexOf(" ", at)
    const zero = content.indexOf("\0", blank)
    level.set(content.toString("utf8", blank + 1, zero), {
      mode: content.toString("latin1", at, blank),
      object: content.toString("hex", zero + 1, zero + 1 + idBytes),
    })
    at = zero + 1 + idBytes
  }
  return level
}
