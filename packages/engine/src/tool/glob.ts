/** `glob`: file names by pattern. */
import { realpath, stat } from "node:fs/promises"

import { described, objectOf, text } from "@meridian/protocol"

import { SOME_TEXT, toolInput } from "../port/tool-input.ts"
import { ToolError, type Tool, type ToolScene, type BuiltinTool } from "../port/tool.ts"
import { fileError } from "./describe-error.ts"
import { compileGlob } from "./glob-pattern.ts"
import { TOOL_LIMITS } from "./limits.ts"
import { askForExternal, resolvePath, type Place, type ResolvedPath } from "./resolve-path.ts"
import type { Slots } from "./slots.ts"
import { walk } from "./walk.ts"

export interface SearchOptions extends Place {
  /** Shared by the searches of a Location. */
  readonly slots: Slots
  /** Milliseconds that never go back. */
  readonly monotonic: () => number
  /** How long one search may take. Default: the value in the limits. */
  readonly searchMs?: number
}

const INPUT = toolInput(
  objectOf(
    {
      pattern: described(
        text({ least: 1, most: TOOL_LIMITS.patternCharacters }),
        "Glob such as `**/*.ts`, `src/{a,b}/*.md`; a pattern without `/` matches names at any depth",
      ),
    },
    {
      path: described(SOME_TEXT, "Directory to search, relative to the working directory (default: that)"),
    },
  ),
)

export const globTool = (options: SearchOptions): Tool => ({
  advertisement: {
    name: "glob",
    description:
      `Finds files by name pattern, sorted by path, at most ${TOOL_LIMITS.globResults}. Leaves out .git, node_modules and ` +
      `what .gitignore names, unless \`path\` lies inside them. Links are not followed. Stops after ` +
      `${TOOL_LIMITS.searchMs / 1000} s.`,
    input: INPUT.schema,
  },
  execute: async (raw, scene) => {
    const input = INPUT.decode(raw)
    const matches = compileFilter(input.pattern)
    const path = await resolveSearch("glob", options, input.path ?? ".", scene)
    if (!(await isDirectory(path)))
      throw new ToolError("failed", `${JSON.stringify(path.named)} is not a directory.`)
    const giveBack = await options.slots.take(scene.signal)
    const found: string[] = []
    const { monotonic } = options
    const end = await walk({
      start: path.absolute,
      root: await realpath(options.root),
      signal: scene.signal,
      monotonic,
      deadline: monotonic() + (options.searchMs ?? TOOL_LIMITS.searchMs),
      onFile: (file) => {
        if (matches(file)) found.push(file)
      },
    }).finally(giveBack)
    const sorted = found.sort().map((file) => within(path, file))
    const shown = sorted.slice(0, TOOL_LIMITS.globResults)
    const notes = [
      ...(sorted.length === 0 ? ["No files match."] : []),
      ...(shown.length < sorted.length
        ? [`(${shown.length} of ${sorted.length} files; narrow the pattern or the path for the rest)`]
        : []),
      ...(end.stopped === undefined
        ? []
        : [`(the search was stopped early: ${end.stopped}; narrow the path)`]),
    ]
    return {
      content: [{ type: "text", text: [...shown, ...notes].join("\n") }],
      structured: { path: path.resource, count: shown.length, cut: notes.length > 0 && shown.length > 0 },
    }
  },
})

export const GLOB: BuiltinTool<SearchOptions> = {
  name: "glob",
  traits: { kind: "search", changes: "none", looking: { at: "project" } },
  open: globTool,
}

/** A matcher for paths below the searched directory. A pattern without a slash matches names only. */
export const compileFilter = (pattern: string): ((path: string) => boolean) => {
  const plain = pattern.replace(/^(\.\/)+/, "")
  if (plain.startsWith("/") || plain.split("/").includes(".."))
    throw new ToolError(
      "invalid-input",
      "The pattern must stay below the searched directory; name another directory in `path`.",
    )
  const compiled = compileGlob(plain, { braces: true })
  if (compiled.type === "refused")
    throw new ToolError("invalid-input", `The glob is refused: ${compiled.why}.`)
  if (plain.includes("/")) return compiled.matches
  return (path) => compiled.matches(path.slice(path.lastIndexOf("/") + 1))
}

/** What glob and grep may search. Each asks under its own name, with the searched path as the resource. */
export const resolveSearch = async (
  action: "glob" | "grep",
  place: Place,
  named: string,
  scene: ToolScene,
): Promise<ResolvedPath> => {
  const path = await resolvePath(place, named)
  await askForExternal(scene, [path], "Search")
  await scene.ask({ action, resources: [path.resource], title: `Search ${path.resource}` })
  return path
}

/** A found file, named so that the model can use the name. */
export const within = (path: ResolvedPath, file: string): string =>
  path.fromHere === "." ? file : `${path.fromHere}/${file}`

export const isDirectory = async (path: ResolvedPath): Promise<boolean> => {
  try {
    return (await stat(path.absolute)).isDirectory()
  } catch (error) {
    throw fileError(error, path.named)
  }
}
