/**
 * The files below a directory, for glob and grep: breadth first, a few directories at a time. Does not follow links, and
 * skips `.git`, `node_modules` and what `.gitignore` names. Bounded in entries, depth and time; reports when it stopped
 * early.
 */
import { readdir, realpath } from "node:fs/promises"
import { join, relative } from "node:path"

import { throwIfAborted } from "./describe-error.ts"
import { openIgnoreRules, type IgnoreRules } from "./ignore-rules.ts"
import { TOOL_LIMITS } from "./limits.ts"
import { bare, openVerified } from "./open-verified.ts"
import { readAtMost } from "./read-at-most.ts"

export interface WalkRequest {
  /** A canonical path. */
  readonly start: string
  /** The canonical project root. Ignore files between it and the start count too. */
  readonly root: string
  readonly signal: AbortSignal
  /** A clock in milliseconds that never goes back, and the time on it when the walk must end. */
  readonly monotonic: () => number
  readonly deadline: number
  /** Called for each file with its path relative to the start. */
  readonly onFile: (path: string) => void
}

export interface WalkEnd {
  /** Why the walk is incomplete, if it is. */
  readonly stopped?: string
}

const SKIPPED = new Set([".git", "node_modules"])

interface Directory {
  readonly path: string
  readonly rules: IgnoreRules
}

export const walk = async (request: WalkRequest): Promise<WalkEnd> => {
  let seen = 0
  let level: readonly Directory[] = [{ path: "", rules: openIgnoreRules(await rulesAbove(request)) }]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > TOOL_LIMITS.walkDepth)
      return { stopped: `directories nested deeper than ${TOOL_LIMITS.walkDepth}` }
    const below: Directory[] = []
    for (let index = 0; index < level.length; index += TOOL_LIMITS.walkParallel) {
      throwIfAborted(request.signal)
      if (request.monotonic() > request.deadline) return { stopped: "time ran out" }
      const group = level.slice(index, index + TOOL_LIMITS.walkParallel)
      const listed = await Promise.all(group.map((directory) => listOne(request, directory)))
      for (const { files, directories } of listed) {
        seen += files.length + directories.length
        if (seen > TOOL_LIMITS.walkEntries) return { stopped: `more than ${TOOL_LIMITS.walkEntries} files` }
        for (const file of files) request.onFile(file)
        below.push(...directories)
      }
    }
    level = below
  }
  return {}
}

const NOTHING = { files: [], directories: [] }

const listOne = async (
  request: WalkRequest,
  { path, rules }: Directory,
): Promise<{ readonly files: readonly string[]; readonly directories: readonly Directory[] }> => {
  const absolute = path === "" ? request.start : join(request.start, path)
  try {
    const entries = await readdir(absolute, { withFileTypes: true })
    // A link that replaced this directory would have shown files from elsewhere.
    if ((await realpath(absolute)) !== absolute) return NOTHING
    const own = entries.some((entry) => entry.name === ".gitignore" && entry.isFile())
      ? rules.within(path, await readIgnoreFile(join(absolute, ".gitignore")))
      : rules
    const files: string[] = []
    const directories: Directory[] = []
    for (const entry of entries) {
      const isDirectory = entry.isDirectory()
      if (SKIPPED.has(entry.name) || (!isDirectory && !entry.isFile())) continue
      const child = path === "" ? entry.name : `${path}/${entry.name}`
      if (own.ignores(child, isDirectory)) continue
      if (isDirectory) directories.push({ path: child, rules: own })
      else files.push(child)
    }
    return { files, directories }
  } catch {
    // Unreadable, or gone since it was listed. The search continues without it.
    return NOTHING
  }
}

const rulesAbove = async ({ start, root }: WalkRequest): Promise<{ text: string; prefix: string }[]> => {
  const below = relative(root, start)
  if (below === "" || below.startsWith("..")) return []
  const names = below.split("/")
  const found = names.map(async (_, index) => ({
    text: await readIgnoreFile(join(root, ...names.slice(0, index), ".gitignore")),
    prefix: `${names.slice(index).join("/")}/`,
  }))
  return Promise.all(found)
}

const readIgnoreFile = async (absolute: string): Promise<string> => {
  try {
    await using opened = await openVerified(bare(absolute))
    if (!opened.stats.isFile()) return ""
    return (await readAtMost(opened.handle, TOOL_LIMITS.ignoreFileBytes)).toString("utf8")
  } catch {
    return ""
  }
}
