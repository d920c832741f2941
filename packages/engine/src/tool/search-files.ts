/** The matching lines of files: many small files in batches, or one file of any size piece by piece. */
import { join } from "node:path"

import { ToolError } from "../port/tool.ts"
import { throwIfAborted } from "./describe-error.ts"
import { TOOL_LIMITS } from "./limits.ts"
import type { LineMatch, LineMatcher } from "./line-matcher.ts"
import { bare, openVerified } from "./open-verified.ts"
import { readAtMost } from "./read-at-most.ts"
import type { ResolvedPath } from "./resolve-path.ts"

export interface SearchBounds {
  readonly most: number
  readonly signal: AbortSignal
  /** A clock in milliseconds that never goes back, and the time on it when the search must end. */
  readonly monotonic: () => number
  readonly deadline: number
}

export interface Found {
  /** As given to the search. */
  readonly file: string
  readonly match: LineMatch
}

export interface SearchResult {
  readonly found: readonly Found[]
  readonly more: boolean
  /** How many files were too large to be searched unless named. */
  readonly tooLarge: number
  /** Why the search is incomplete, if it is. */
  readonly stopped?: string
}

/** Skips unreadable, binary and large files. `files` are relative to `start`. */
export const searchFiles = async (
  matcher: LineMatcher,
  target: { readonly start: string; readonly files: readonly string[] },
  bounds: SearchBounds,
): Promise<SearchResult> => {
  const collected = collect(matcher, bounds)
  let tooLarge = 0
  for (let index = 0; index < target.files.length && !collected.isFull();) {
    const batch: { readonly file: string; readonly bytes: Buffer }[] = []
    for (let bytes = 0; bytes < TOOL_LIMITS.grepBatchBytes && index < target.files.length;) {
      throwIfAborted(bounds.signal)
      const group = target.files.slice(index, index + TOOL_LIMITS.walkParallel)
      index += group.length
      const contents = await Promise.all(group.map((file) => readSmall(join(target.start, file))))
      for (const [at, content] of contents.entries()) {
        if (content === "too-large") tooLarge++
        if (typeof content === "string") continue
        batch.push({ file: group[at] ?? "", bytes: content })
        bytes += content.length
      }
    }
    const stopped = await collected.add(batch, 0)
    if (stopped !== undefined) return { ...collected.result(), tooLarge, stopped }
  }
  return { ...collected.result(), tooLarge }
}

/** Searches one named file of any size, as far as time allows. Refuses a binary file. */
export const searchFile = async (
  matcher: LineMatcher,
  path: ResolvedPath,
  bounds: SearchBounds,
): Promise<SearchResult> => {
  await using opened = await openVerified(path)
  const collected = collect(matcher, bounds)
  let line = 0
  let rest: Buffer = Buffer.alloc(0)
  for (let position = 0, ended = false; !ended && !collected.isFull();) {
    throwIfAborted(bounds.signal)
    const piece = await readAtMost(opened.handle, TOOL_LIMITS.grepBatchBytes, position)
    if (position === 0 && isBinary(piece))
      throw new ToolError("failed", `${JSON.stringify(path.named)} is binary; grep searches text.`)
    position += piece.length
    ended = piece.length === 0
    const whole = rest.length === 0 ? piece : Buffer.concat([rest, piece])
    // An endless line is cut where it becomes too long to hold.
    const hold = !ended && whole.length < TOOL_LIMITS.grepFileBytes
    const end = hold ? whole.lastIndexOf(10) + 1 : whole.length
    rest = Buffer.from(whole.subarray(end))
    const text = Buffer.from(whole.subarray(0, end))
    const breaks = countBreaks(text)
    const stopped = await collected.add([{ file: "", bytes: text }], line)
    if (stopped !== undefined) return { ...collected.result(), tooLarge: 0, stopped }
    line += breaks
  }
  return { ...collected.result(), tooLarge: 0 }
}

const collect = (matcher: LineMatcher, bounds: SearchBounds) => {
  const found: Found[] = []
  return {
    isFull: () => found.length > bounds.most,
    /** Returns the reason when time is up. Looks for one extra match, to know whether there are more. */
    add: async (
      batch: readonly { readonly file: string; readonly bytes: Buffer }[],
      linesBefore: number,
    ): Promise<string | undefined> => {
      if (bounds.monotonic() > bounds.deadline) return "time ran out"
      try {
        const matched = await matcher.match(
          batch.map(({ bytes }) => bytes),
          bounds.most + 1 - found.length,
        )
        for (const [at, matches] of matched.entries())
          for (const { line, text } of matches)
            found.push({ file: batch[at]?.file ?? "", match: { line: line + linesBefore, text } })
        return undefined
      } catch (error) {
        if (!(error instanceof ToolError) || error.code !== "timeout") throw error
        return "the pattern took too long"
      }
    },
    result: () => ({ found: found.slice(0, bounds.most), more: found.length > bounds.most }),
  }
}

const readSmall = async (absolute: string): Promise<Buffer | "too-large" | "unsuitable"> => {
  try {
    await using opened = await openVerified(bare(absolute))
    if (!opened.stats.isFile()) return "unsuitable"
    if (opened.stats.size > BigInt(TOOL_LIMITS.grepFileBytes)) return "too-large"
    const bytes = await readAtMost(opened.handle, TOOL_LIMITS.grepFileBytes)
    return isBinary(bytes) ? "unsuitable" : bytes
  } catch {
    return "unsuitable"
  }
}

const isBinary = (bytes: Buffer): boolean => bytes.subarray(0, 8192).includes(0)

const countBreaks = (bytes: Buffer): number => {
  let count = 0
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count++
  return count
}
