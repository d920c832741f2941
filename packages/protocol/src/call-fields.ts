/**
 * Reads what a call is about from the field names that tools and models use. Shared by every user interface that shows
 * calls. Code that has the tool itself reads its decoded input instead.
 */
import { asObject } from "./json-fields.ts"

/** The value that says most about a call: its command, its path, its pattern. */
export const aboutCall = (input: unknown): string | undefined =>
  typeof input === "string" ? input || undefined : firstText(input, TELLING)

/** The most informative names first. */
const TELLING = [
  "command",
  "cmd",
  "path",
  "filePath",
  "file_path",
  "pattern",
  "query",
  "name",
  "url",
  "description",
  "prompt",
] as const

/** The text a call replaces and its replacement. A patch contains both. */
export interface CallChange {
  readonly path: string | undefined
  readonly before: string | undefined
  readonly after: string | undefined
  readonly content: string | undefined
  readonly patch: string | undefined
}

export const changeInCall = (input: unknown): CallChange => ({
  path: firstText(input, ["path", "filePath", "file_path"]),
  before: anyText(input, ["oldString", "old_string", "oldText"]),
  after: anyText(input, ["newString", "new_string", "newText"]),
  content: anyText(input, ["content", "contents"]),
  patch:
    firstText(input, ["patchText", "patch", "patch_text"]) ??
    // Codex sends the patch in `input`; other tools use that name for something else.
    anyText(input, ["input"], (text) => text.startsWith("*** Begin Patch")),
})

const firstText = (input: unknown, names: readonly string[]): string | undefined =>
  anyText(input, names, (text) => text !== "")

/** Accepts empty text too: it may be the replacement. */
const anyText = (
  input: unknown,
  names: readonly string[],
  isWanted: (text: string) => boolean = () => true,
): string | undefined => {
  const fields = asObject(input)
  for (const name of names) {
    const value = fields?.[name]
    if (typeof value === "string" && isWanted(value)) return value
  }
  return undefined
}
