/**
 * Which files of a place differ from what its index knows: one `git status`, as cheap as git can make it. Every file is looked at,
 * but only folders that changed are read again (git's untracked cache), and what HEAD says costs nothing, because HEAD of our
 * folder is a commit of the first tree that was seen. It is in our own folder and matters to nobody else.
 */
import { randomUUID } from "node:crypto"
import { renameSync, rmSync, statfsSync, writeFileSync } from "node:fs"
import { platform } from "node:os"
import { join } from "node:path"

import { callGit } from "./call-git.ts"
import { openLooseObjects } from "./loose-objects.ts"
import type { FilePlace } from "./open-place.ts"

export interface Look {
  /** For every call that uses the index of the place. */
  readonly warm: Readonly<Record<string, string>>
  /** Relative to the top: changed, new and removed. */
  readonly changed: () => Promise<readonly string[]>
  /** What the index is the tree of. */
  readonly remember: (tree: string) => Promise<void>
  /** Everything that only made it faster. */
  readonly forget: () => void
}

export const openLook = (place: FilePlace): Look => {
  const { top, prefix, folder, git, index, format } = place
  const own = join(folder, "objects")
  const warm = {
    GIT_INDEX_FILE: index,
    // The index is ours: what was found out stays in it.
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
 * Lines are `XY path`: X says how the file differs from HEAD, Y how it differs from the index. A nested repository is listed with a
 * trailing slash. We do not keep it.
 */
const readStatus = (answer: string): readonly string[] =>
  answer
    .split("\0")
    .flatMap((line) => (line === "" || line[1] === " " || line.endsWith("/") ? [] : [line.slice(3)]))

export const UNBORN = "ref: refs/heads/main"

/** Whole or not at all: git does not know a folder without it. */
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

/** A folder is dated anew with every name that comes or goes. Others (a network, another system's disk) are not believed. */
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
