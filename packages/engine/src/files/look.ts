/**
 * Finds the files of a place that differ from its index with one `git status`, as cheap as git can make it. Git looks at
 * every file but reads only changed folders again (its untracked cache). Comparing with HEAD costs nothing, because the
 * HEAD of Meridian's folder is a commit of the first tree seen. No other code uses that HEAD.
 */
import { randomUUID } from "node:crypto"
import { renameSync, rmSync, statfsSync, writeFileSync } from "node:fs"
import { platform } from "node:os"
import { join } from "node:path"

import { callGit } from "./call-git.ts"
import { openLooseObjects } from "./loose-objects.ts"
import type { FilePlace } from "./open-place.ts"

export interface Look {
  /** The environment for every call that uses the index of the place. */
  readonly warm: Readonly<Record<string, string>>
  /** Relative to the top: changed, new and removed. */
  readonly changed: () => Promise<readonly string[]>
  /** Notes the tree that the index holds. */
  readonly remember: (tree: string) => Promise<void>
  /** Drops everything that only saves time. */
  readonly forget: () => void
}

export const openLook = (place: FilePlace): Look => {
  const { top, prefix, folder, git, index, format } = place
  const own = join(folder, "objects")
  const warm = {
    GIT_INDEX_FILE: index,
    // The index is Meridian's, so git may save what it finds in it.
    GIT_OPTIONAL_LOCKS: "1",
    GIT_ALTERNATE_OBJECT_DIRECTORIES: own,
    ...settings([
      ["core.untrackedCache", hasFolderTimes(top) ? "true" : "false"],
      ["status.showUntrackedFiles", "all"],
      ["core.trustctime", "true"],
      ["core.checkStat", "default"],
    ]),
  }
  let isRemembered = false

  return {
    warm,
    changed: async () => {
      const below = prefix === "" ? [] : ["--", prefix]
      const { text } = await callGit(git, [...STATUS, ...below], { env: warm })
      return readStatus(text)
    },
    remember: async (tree) => {
      if (isRemembered) return
      isRemembered = true
      writeHead(folder, await openLooseObjects({ objects: own, format }).writeCommit(tree))
    },
    forget: () => {
      rmSync(index, { force: true })
      writeHead(folder, UNBORN)
      isRemembered = false
    },
  }
}

const STATUS = [
  "status",
  "--porcelain",
  "-z",
  "--untracked-files=all",
  "--no-renames",
  "--ignore-submodules=all",
] as const

/**
 * Lines are `XY path`: X says how the file differs from HEAD, Y how it differs from the index. A nested repository is
 * listed with a trailing slash and is not kept.
 */
const readStatus = (answer: string): readonly string[] =>
  answer
    .split("\0")
    .flatMap((line) => (line === "" || line[1] === " " || line.endsWith("/") ? [] : [line.slice(3)]))

export const UNBORN = "ref: refs/heads/main"

/** Written whole or not at all: without this file, git does not recognise the folder. */
export const writeHead = (folder: string, text: string): void => {
  const draft = join(folder, `${process.pid}-${randomUUID()}.index.head`)
  writeFileSync(draft, `${text}\n`)
  renameSync(draft, join(folder, "HEAD"))
}

const settings = (pairs: readonly (readonly [key: string, value: string])[]): Record<string, string> =>
  Object.fromEntries([
    ["GIT_CONFIG_COUNT", String(pairs.length)],
    ...pairs.flatMap(([key, value], at) => [
      [`GIT_CONFIG_KEY_${at}`, key],
      [`GIT_CONFIG_VALUE_${at}`, value],
    ]),
  ])

/**
 * Whether a folder's time changes with every name added or removed. File systems not listed (a network, another system's
 * disk) are not trusted.
 */
const hasFolderTimes = (top: string): boolean => {
  if (platform() === "darwin") return true
  try {
    return LOCAL.has(statfsSync(top).type)
  } catch {
    return false
  }
}

/** statfs(2): ext, xfs, btrfs, f2fs, tmpfs, overlayfs, zfs. */
const LOCAL: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x01021994, 0x794c7630, 0x2fc12fc1,
])
