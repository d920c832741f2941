/** `grep`: lines by pattern. */
import { realpath } from "node:fs/promises"

import { alsoNamed, BOOLEAN, described, integer, objectOf, text } from "@meridian/protocol"

import { SOME_TEXT, toolInput } from "../port/tool-input.ts"
import { ToolError, type Tool, type ToolOutput, type BuiltinTool } from "../port/tool.ts"
import { compileFilter, isDirectory, resolveSearch, within, type SearchOptions } from "./glob.ts"
import { TOOL_LIMITS } from "./limits.ts"
import { compilePattern, openLineMatcher } from "./line-matcher.ts"
import type { ResolvedPath } from "./resolve-path.ts"
import { searchFile, searchFiles, type SearchResult } from "./search-files.ts"
import { walk } from "./walk.ts"

const INPUT = toolInput(
  objectOf(
    {
      pattern: described(
        text({ least: 1, most: TOOL_LIMITS.patternCharacters }),
        "JavaScript regular expression, matched line by line",
      ),
    },
    {
      path: described(
        SOME_TEXT,
        "File or directory to search, relative to the working directory (default: that)",
      ),
      include: alsoNamed(
        described(
          text({ least: 1, most: TOOL_LIMITS.patternCharacters }),
          "Glob of the files to search, such as `*.ts` or `src/**/*.{js,ts}`",
        ),
        "glob",
      ),
      ignoreCase: alsoNamed(
        described(BOOLEAN, "Match upper and lower case alike (default false)"),
        "ignore_case",
        "-i",
      ),
      literal: described(BOOLEAN, "Take the pattern as plain text (default false)"),
      limit: described(
        integer(1, TOOL_LIMITS.grepMatches),
        `Most matching lines to return (default ${TOOL_LIMITS.grepDefaultMatches})`,
      ),
    },
  ),
)

export const grepTool = (options: SearchOptions): Tool => ({
  advertisement: {
    name: "grep",
    description:
      `Finds lines by regular expression, as \`path:line:text\` sorted by path, ${TOOL_LIMITS.grepDefaultMatches} by default ` +
      `and at most ${TOOL_LIMITS.grepMatches}. Leaves out .git, node_modules, what .gitignore names (unless \`path\` lies ` +
      `inside them), binary files and files above ${TOOL_LIMITS.grepFileBytes / 1024 / 1024} MiB (a file named in \`path\` may be larger); shows ` +
      `${TOOL_LIMITS.grepLineCharacters} characters of a long line. Stops after ${TOOL_LIMITS.searchMs / 1000} s.`,
    input: INPUT.schema,
  },
  execute: async (raw, scene) => {
    const input = INPUT.decode(raw)
    const includes = input.include === undefined ? () => true : compileFilter(input.include)
    const pattern = compilePattern({
      pattern: input.pattern,
      literal: input.literal ?? false,
      ignoreCase: input.ignoreCase ?? false,
    })
    const path = await resolveSearch("grep", options, input.path ?? ".", scene)
    const giveBack = await options.slots.take(scene.signal)
    try {
      // The time starts here, because the question before may take hours.
      const bounds = {
        most: input.limit ?? TOOL_LIMITS.grepDefaultMatches,
        signal: scene.signal,
        monotonic: options.monotonic,
        deadline: options.monotonic() + (options.searchMs ?? TOOL_LIMITS.searchMs),
      }
      await using matcher = openLineMatcher(pattern, bounds)
      if (!(await isDirectory(path))) return present(path, await searchFile(matcher, path, bounds))
      const files: string[] = []
      const end = await walk({
        start: path.absolute,
        root: await realpath(options.root),
        ...bounds,
        onFile: (file) => {
          if (includes(file)) files.push(file)
        },
      })
      const result = await searchFiles(matcher, { start: path.absolute, files: files.sort() }, bounds)
      return present(path, { ...end, ...result })
    } finally {
      giveBack()
    }
  },
})

export const GREP: BuiltinTool<SearchOptions> = {
  name: "grep",
  traits: { kind: "search", changes: "none", looking: { at: "project" } },
  open: grepTool,
}

const present = (path: ResolvedPath, { found, more, tooLarge, stopped }: SearchResult): ToolOutput => {
  if (found.length === 0 && stopped !== undefined)
    throw new ToolError(
      "timeout",
      `Nothing was found before the search was stopped: ${stopped}. Simplify the pattern or narrow the path.`,
    )
  const lines = found.map(
    ({ file, match }) => `${file === "" ? path.fromHere : within(path, file)}:${match.line}:${match.text}`,
  )
  const notes = [
    ...(lines.length === 0 ? ["No lines match."] : []),
    ...(more
      ? [`(the first ${lines.length} matching lines; there are more, narrow the search to see them)`]
      : []),
    ...(tooLarge === 0
      ? []
      : [
          `(not searched: ${tooLarge} of the files, above ${TOOL_LIMITS.grepFileBytes} bytes; name one in \`path\` to search it)`,
        ]),
    ...(stopped === undefined
      ? []
      : [`(the search was stopped early: ${stopped}; simplify the pattern or narrow the path)`]),
  ]
  return {
    content: [{ type: "text", text: [...lines, ...notes].join("\n") }],
    structured: { path: path.resource, matches: lines.length, more: more || stopped !== undefined },
  }
}
