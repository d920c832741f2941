/** `edit`: replaces one exact text in one file. */
import { alsoNamed, BOOLEAN, described, objectOf, text } from "@meridian/protocol"

import { FILE_PATH, toolInput } from "../port/tool-input.ts"
import { ToolError, type Tool, type BuiltinTool } from "../port/tool.ts"
import { throwIfAborted } from "./describe-error.ts"
import type { FileLocks } from "./file-locks.ts"
import { TOOL_LIMITS } from "./limits.ts"
import { readSnapshot, replaceFile } from "./replace-file.ts"
import { askForExternal, resolvePath, type Place } from "./resolve-path.ts"
import { decodeTextFile, encodeTextFile, lineEndingsOf } from "./text-file.ts"

export interface EditOptions extends Place {
  readonly locks: FileLocks
}

const INPUT = toolInput(
  objectOf(
    {
      path: FILE_PATH("File to change, relative to the working directory"),
      oldString: alsoNamed(
        described(
          text({ least: 1, most: TOOL_LIMITS.editFileBytes }),
          "The exact text to replace, with its whitespace; must occur once unless replaceAll is true",
        ),
        "old_string",
        "oldText",
      ),
      newString: alsoNamed(
        described(text({ most: TOOL_LIMITS.writeBytes }), "The text to put in its place; empty to delete"),
        "new_string",
        "newText",
      ),
    },
    { replaceAll: alsoNamed(described(BOOLEAN, "Replace every occurrence (default false)"), "replace_all") },
  ),
)

export const editTool = (options: EditOptions): Tool => ({
  advertisement: {
    name: "edit",
    description:
      "Replaces an exact text in a UTF-8 file. Fails when the text does not occur, occurs more than once (unless " +
      "replaceAll), or when the file changed meanwhile. Line endings and byte order mark are kept. Files up to " +
      `${TOOL_LIMITS.editFileBytes / 1024 / 1024} MiB. To create a file use write.`,
    input: INPUT.schema,
  },
  execute: async (raw, scene) => {
    const input = INPUT.decode(raw)
    if (input.oldString === input.newString)
      throw new ToolError("invalid-input", "`oldString` and `newString` are the same; nothing would change.")
    const path = await resolvePath(options, input.path)
    await askForExternal(scene, [path], "Edit a file")
    await scene.ask({
      action: "edit",
      resources: [path.resource],
      title: `Edit ${path.resource}`,
      detail: { path: path.resource, before: preview(input.oldString), after: preview(input.newString) },
    })
    return options.locks.hold([path.absolute], async () => {
      throwIfAborted(scene.signal)
      const snapshot = await readSnapshot(path)
      const file = decodeTextFile(snapshot.bytes, path.named)
      const decision = decideEdit(file.text, input.oldString, input.newString, input.replaceAll ?? false)
      if (decision.type === "refused")
        throw new ToolError("failed", `${JSON.stringify(path.named)}: ${decision.why}`)
      const bytes = encodeTextFile({ ...file, text: decision.text })
      if (bytes.length > TOOL_LIMITS.editFileBytes)
        throw new ToolError("failed", "The changed file would be too large.")
      throwIfAborted(scene.signal)
      await replaceFile(path, bytes, { type: "unchanged", snapshot })
      const count = decision.replacements === 1 ? "1 occurrence" : `${decision.replacements} occurrences`
      return {
        content: [{ type: "text", text: `Replaced ${count} in ${path.resource}.` }],
        structured: { path: path.resource, replacements: decision.replacements },
      }
    })
  },
})

export const EDIT: BuiltinTool<EditOptions> = {
  name: "edit",
  traits: { kind: "edit", changes: "asked" },
  open: editTool,
}

export type EditDecision =
  | { readonly type: "refused"; readonly why: string }
  | { readonly type: "changed"; readonly text: string; readonly replacements: number }

/** Pure: the new text, or why there is none. */
export const decideEdit = (whole: string, oldText: string, newText: string, all: boolean): EditDecision => {
  const toFile = lineEndingsOf(whole)
  const before = toFile(oldText)
  const after = toFile(newText)
  const found = occurrences(whole, before)
  if (found === 0)
    return {
      type: "refused",
      why: "`oldString` does not occur. Read the file and copy the text exactly, with its whitespace and without line numbers.",
    }
  if (found > 1 && !all)
    return {
      type: "refused",
      why: `\`oldString\` occurs ${found} times. Add surrounding lines until it is unique, or set replaceAll.`,
    }
  if (before === after) return { type: "refused", why: "nothing would change." }
  return { type: "changed", text: whole.split(before).join(after), replacements: found }
}

const occurrences = (whole: string, part: string): number => {
  let count = 0
  for (let at = whole.indexOf(part); at !== -1; at = whole.indexOf(part, at + part.length)) count++
  return count
}

const preview = (value: string): string =>
  value.length > TOOL_LIMITS.detailCharacters ? `${value.slice(0, TOOL_LIMITS.detailCharacters)}...` : value
