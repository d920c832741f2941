/** `grep`: lines by pattern. */
import { realpath } from "node:fs/promises"
import { join } from "node:path"

import { ToolError, type Tool } from "../port/tool.ts"
import { throwIfAborted } from "./describe-error.ts"
import { compileFilter, isDirectory, resolveSearch, within, type SearchOptions } from "./glob.ts"
import { inputShape, integer, optional, text, truth } from "./input-shape.ts"
import { TOOL_LIMITS } from "./limits.ts"
import { openLineMatcher, type LineMatch, type LineMatcher } from "./line-matcher.ts"
import { bare, openVerified } from "./open-verified.ts"
import { readAtMost } from "./read-at-most.ts"
import { walk } from "./walk.ts"

const SHAPE = inputShape({
  pattern: text({
    describe: "JavaScript regular expression, matched line by line",
    longest: TOOL_LIMITS.patternCharacters,
  }),
  path: optional(
    text({ describe: "File or directory to search, relative to the working directory (default: that)" }),
  ),
  include: optional(
    text({
      describe: "Glob of the files to search, such as `*.ts` or `src/**/*.{js,ts}`",
      otherNames: ["glob"],
      longest: TOOL_LIMITS.patternCharacters,
    }),
  ),
  ignoreCase: optional(
    truth({
      describe: "Match upper and lower case alike (default false)",
      otherNames: ["ignore_case", "-i"],
    }),
  ),
  literal: optional(truth({ describe: "Take the pattern as plain text (default false)" })),
  limit: optional(
    integer({
      describe: `Most matching lines to return (default ${TOOL_LIMITS.grepDefaultMatches})`,
      least: 1,
      most: TOOL_LIMITS.grepMatches,
    }),
  ),
})

export const grepTool = (options: SearchOptions): Tool => ({
  advertisement: {
    name: "grep",
    description:
      `Finds lines by regular expression, as \`path:line:text\` sorted by path, ${TOOL_LIMITS.grepDefaultMatches} by default ` +
      `and at most ${TOOL_LIMITS.grepMatches}. Leaves out .git, node_modules, what .gitignore names (unless \`path\` lies ` +
      `inside them), binary files and files above ${TOOL_LIMITS.grepFileBytes / 1024 / 1024} MiB; shows ` +
      `${TOOL_LIMITS.grepLineCharacters} characters of a long line. Stops after ${TOOL_LIMITS.searchMs / 1000} s.`,
    input: SHAPE.schema,
  },
  execute: async (raw, scene) => {
    const input = SHAPE.decode(raw)
    const includes = input.include === undefined ? () => true : compileFilter(input.include)
    const deadline = performance.now() + (options.searchMs ?? TOOL_LIMITS.searchMs)
    await using matcher = openLineMatcher(
      { pattern: input.pattern, literal: input.literal ?? false, ignoreCase: input.ignoreCase ?? false },
      { signal: scene.signal, deadline },
    )
    const path = await resolveSearch(options, input.path ?? ".", scene)
    const isTree = await isDirectory(path)
    const files: string[] = []
    const end = isTree
      ? await walk({
          start: path.absolute,
          root: await realpath(options.root),
          signal: scene.signal,
          deadline,
          onFile: (file) => {
            if (includes(file)) files.push(file)
          },
        })
      : {}
    const result = await searchFiles(matcher, {
      files: isTree ? files.sort() : [""],
      absolute: (file) => (file === "" ? path.absolute : join(path.absolute, file)),
      most: input.limit ?? TOOL_LIMITS.grepDefaultMatches,
      signal: scene.signal,
      deadline,
    })
    const lines = result.found.map(
      ({ file, match }) => `${file === "" ? path.fromHere : within(path, file)}:${match.line}:${match.text}`,
    )
    const stopped = result.stopped ?? end.stopped
    const notes = [
      ...(lines.length === 0 ? ["No lines match."] : []),
      ...(result.more
        ? [`(the first ${lines.length} matching lines; there are more, narrow the search to see them)`]
        : []),
      ...(result.skipped === 0
        ? []
        : [`(${result.skipped} files above ${TOOL_LIMITS.grepFileBytes} bytes were not searched)`]),
      ...(stopped === undefined
        ? []
        : [`(the search was stopped early: ${stopped}; simplify the pattern or narrow the path)`]),
    ]
    if (lines.length === 0 && stopped !== undefined)
      throw new ToolError(
        "timeout",
        `Nothing was found before the search was stopped: ${stopped}. Simplify the pattern or narrow the path.`,
      )
    return {
      content: [{ type: "text", text: [...lines, ...notes].join("\n") }],
      structured: { path: path.resource, matches: lines.length, more: result.more || stopped !== undefined },
    }
  },
})

interface FileSearch {
  readonly files: readonly string[]
  readonly absolute: (file: string) => string
  readonly most: number
  readonly signal: AbortSignal
  readonly deadline: number
}

interface FileSearchResult {
  readonly found: readonly { readonly file: string; readonly match: LineMatch }[]
  readonly more: boolean
  readonly skipped: number
  readonly stopped?: string
}

const searchFiles = async (matcher: LineMatcher, search: FileSearch): Promise<FileSearchResult> => {
  const found: { readonly file: string; readonly match: LineMatch }[] = []
  let skipped = 0
  for (let index = 0; index < search.files.length;) {
    throwIfAborted(search.signal)
    if (performance.now() > search.deadline) return { found, more: false, skipped, stopped: "time ran out" }
    const batch = await readBatch(search, index)
    index += batch.taken
    skipped += batch.skipped
    try {
      const matched = await matcher.match(
        batch.files.map(({ bytes }) => bytes),
        search.most + 1 - found.length,
      )
      for (const [at, matches] of matched.entries())
        for (const match of matches) found.push({ file: batch.files[at]?.file ?? "", match })
    } catch (error) {
      if (!(error instanceof ToolError) || error.code !== "timeout") throw error
      return {
        found: found.slice(0, search.most),
        more: false,
        skipped,
        stopped: "the pattern took too long",
      }
    }
    if (found.length > search.most) return { found: found.slice(0, search.most), more: true, skipped }
  }
  return { found, more: false, skipped }
}

const readBatch = async (
  search: FileSearch,
  start: number,
): Promise<{
  readonly files: readonly { readonly file: string; readonly bytes: Buffer }[]
  readonly taken: number
  readonly skipped: number
}> => {
  const files: { readonly file: string; readonly bytes: Buffer }[] = []
  let taken = 0
  let skipped = 0
  let bytes = 0
  while (bytes < TOOL_LIMITS.grepBatchBytes && start + taken < search.files.length) {
    const group = search.files.slice(start + taken, start + taken + TOOL_LIMITS.walkParallel)
    taken += group.length
    const read = await Promise.all(
      group.map((file) => readSearched(search.absolute(file), search.files.length === 1)),
    )
    for (const [at, content] of read.entries()) {
      if (content === "too-large") skipped++
      else if (content !== "unsuitable") {
        files.push({ file: group[at] ?? "", bytes: content })
        bytes += content.length
      }
    }
  }
  return { files, taken, skipped }
}

const readSearched = async (
  absolute: string,
  mustOpen: boolean,
): Promise<Buffer | "too-large" | "unsuitable"> => {
  try {
    await using opened = await openVerified(bare(absolute))
    if (!opened.stats.isFile()) return "unsuitable"
    if (opened.stats.size > BigInt(TOOL_LIMITS.grepFileBytes)) return "too-large"
    const bytes = await readAtMost(opened.handle, TOOL_LIMITS.grepFileBytes)
    return bytes.subarray(0, 8192).includes(0) ? "unsuitable" : bytes
  } catch (error) {
    if (mustOpen) throw error
    return "unsuitable"
  }
}
