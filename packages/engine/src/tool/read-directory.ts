/** The direct children of a directory: directories first, both parts alphabetical, paged by a one-based offset. */
import { opendir, realpath } from "node:fs/promises"

import { ToolError, type ToolOutput } from "../port/tool.ts"
import { throwIfAborted } from "./describe-error.ts"
import { TOOL_LIMITS } from "./limits.ts"
import type { ResolvedPath } from "./resolve-path.ts"

interface Entry {
  readonly name: string
  readonly type: "directory" | "file" | "link" | "other"
}

export const listDirectory = async (
  path: ResolvedPath,
  options: { readonly offset: number; readonly limit: number | undefined; readonly signal: AbortSignal },
): Promise<ToolOutput> => {
  const { entries, cut } = await readEntries(path, options.signal)
  const size = Math.min(options.limit ?? TOOL_LIMITS.directoryEntries, TOOL_LIMITS.directoryEntries)
  const sorted = [...entries].sort(directoriesFirst)
  const page = withinBytes(sorted.slice(options.offset - 1, options.offset - 1 + size))
  if (page.length === 0 && options.offset > 1)
    throw new ToolError(
      "invalid-input",
      `\`offset\` ${options.offset} is beyond the end: there are ${sorted.length} entries.`,
    )
  const next = options.offset - 1 + page.length < sorted.length ? options.offset + page.length : undefined
  const lines = page.map((entry) =>
    entry.type === "directory" ? `${entry.name}/` : entry.type === "link" ? `${entry.name}@` : entry.name,
  )
  const notes = [
    ...(sorted.length === 0 ? ["(empty directory)"] : []),
    ...(next === undefined
      ? []
      : [`(entries ${options.offset}-${next - 1} of ${sorted.length}; continue with offset ${next})`]),
    ...(cut ? [`(only the first ${TOOL_LIMITS.directoryScanEntries} entries were looked at)`] : []),
  ]
  return {
    content: [{ type: "text", text: [...lines, ...notes].join("\n") }],
    structured: {
      type: "directory",
      path: path.resource,
      entries: page.map(({ name, type }) => ({ name, type })),
      offset: options.offset,
      total: sorted.length,
      ...(next === undefined ? {} : { next }),
    },
  }
}

export const listNames = async (path: ResolvedPath): Promise<readonly string[]> => {
  const { entries } = await readEntries(path, undefined)
  return entries.map((entry) => entry.name)
}

const withinBytes = (entries: readonly Entry[]): readonly Entry[] => {
  let bytes = 0
  const end = entries.findIndex(
    (entry) => (bytes += Buffer.byteLength(entry.name) + 2) > TOOL_LIMITS.readBytes,
  )
  return end === -1 ? entries : entries.slice(0, end)
}

const readEntries = async (
  path: ResolvedPath,
  signal: AbortSignal | undefined,
): Promise<{ readonly entries: readonly Entry[]; readonly cut: boolean }> => {
  const entries: Entry[] = []
  const directory = await opendir(path.absolute, { bufferSize: 256 })
  let cut = false
  for await (const child of directory) {
    if (signal !== undefined) throwIfAborted(signal)
    if (entries.length >= TOOL_LIMITS.directoryScanEntries) {
      cut = true
      break
    }
    entries.push({
      name: child.name,
      type: child.isDirectory()
        ? "directory"
        : child.isSymbolicLink()
          ? "link"
          : child.isFile()
            ? "file"
            : "other",
    })
  }
  // A link that replaced this directory during the read would have shown names from elsewhere.
  if ((await realpath(path.absolute)) !== path.absolute)
    throw new ToolError("failed", `${JSON.stringify(path.named)} was replaced by a link while it was read.`)
  return { entries, cut }
}

const directoriesFirst = (a: Entry, b: Entry): number => {
  const order = Number(b.type === "directory") - Number(a.type === "directory")
  return order === 0 ? compareNames(a.name, b.name) : order
}

const compareNames = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
