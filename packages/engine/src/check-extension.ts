/** Checks an extension, which comes from outside, completely before any of it takes part. */
import { isAbsolute } from "node:path"

import { Failure, integer, listOf, objectOf, reader, something, text } from "@meridian/protocol"

import { FUNCTION, SOURCE, SOURCE_WORDS, TOOL, TOOL_WORDS, written } from "./check-options.ts"
import { HOOK_NAMES, type Extension } from "./extension/index.ts"
import { embedderTool } from "./tool/embedder-tool.ts"
import { openToolRegistry } from "./tool/registry.ts"

const EXTENSION = objectOf(
  { name: text({ pattern: /^[\w@/.-]{1,100}$/, like: "1 to 100 letters, digits or _ @ / . -" }) },
  {
    directory: something<string>(
      "an absolute path",
      (value) => typeof value === "string" && isAbsolute(value) && !value.includes("\0"),
    ),
    tools: listOf(objectOf(TOOL, TOOL_WORDS)),
    context: listOf(objectOf(SOURCE, SOURCE_WORDS)),
    hooks: objectOf({}, Object.fromEntries(HOOK_NAMES.map((name) => [name, FUNCTION]))),
    hookTimeoutMs: integer(1, 60_000),
  },
)

const read = reader(EXTENSION, { what: "An extension" })

/** Throws INVALID_INPUT. */
export const checkExtension = (extension: Extension): Extension => {
  read(written(extension))
  try {
    openToolRegistry({ outputDirectory: "" }).contribute((extension.tools ?? []).map(embedderTool))
  } catch (cause) {
    const what = cause instanceof Error ? cause.message : String(cause)
    throw new Failure("INVALID_INPUT", { what: `The extension ${extension.name}: ${what}` }, { cause })
  }
  return extension
}
