/** What a rule may ask about the project itself: its kinds and its branch. Looked up only when a rule asks. */
import { resolve } from "node:path"

import { openGuardedReader, type GuardedReader } from "./guarded-reader.ts"
import { openReadBudget } from "./read-budget.ts"

const TIME_MS = 30

const MARKS: readonly (readonly [kind: string, file: string])[] = [
  ["node", "package.json"],
  ["python", "pyproject.toml"],
  ["go", "go.mod"],
  ["rust", "Cargo.toml"],
  ["monorepo", "pnpm-workspace.yaml"],
  ["monorepo", "turbo.json"],
]

const EXTENSION_KEYS = [
  "background",
  "content_scripts",
  "browser_action",
  "page_action",
  "action",
  "permissions",
] as const

export const readProjects = (root: string, timeMs: number = TIME_MS): readonly string[] => {
  const reader = openGuardedReader(root, openReadBudget({ limits: { timeMs: Math.min(timeMs, TIME_MS) } }))
  const kinds = MARKS.filter(([, file]) => reader.look(file).kind === "file").map(([kind]) => kind)
  return [...new Set(isExtension(reader) ? [...kinds, "browser-extension"] : kinds)]
}

const isExtension = (reader: GuardedReader): boolean => {
  const file = reader.read("manifest.json")
  if (file.kind !== "text") return false
  try {
    // oxlint-disable-next-line no-restricted-properties -- only asked which keys it has
    const manifest: unknown = JSON.parse(file.text)
    if (typeof manifest !== "object" || manifest === null) return false
    const version: unknown = Reflect.get(manifest, "manifest_version")
    return (version === 2 || version === 3) && EXTENSION_KEYS.some((key) => Object.hasOwn(manifest, key))
  } catch {
    return false
  }
}

/** The checked-out branch, read from git's own file; undefined when detached or not a repository. Starts no process. */
export const readBranch = (root: string, timeMs: number = TIME_MS): string | undefined => {
  const budget = openReadBudget({ limits: { timeMs: Math.min(timeMs, TIME_MS) } })
  const reader = openGuardedReader(root, budget)
  const mark = reader.look(".git")
  if (mark.kind === "folder") return branchOf(reader, ".git/HEAD")
  if (mark.kind !== "file") return undefined
  // In a linked worktree this file points to its part of the repository. Only a branch name is read from there.
  const link = reader.read(".git", { maxBytes: 4096 })
  const target = link.kind === "text" ? /^gitdir: (.+)$/m.exec(link.text)?.[1]?.trim() : undefined
  return target === undefined ? undefined : branchOf(openGuardedReader(resolve(root, target), budget), "HEAD")
}

const branchOf = (reader: GuardedReader, path: string): string | undefined => {
  const head = reader.read(path, { maxBytes: 4096 })
  return head.kind === "text" ? /^ref: refs\/heads\/(\S{1,512})$/m.exec(head.text)?.[1] : undefined
}
