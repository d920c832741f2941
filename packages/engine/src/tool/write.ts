/** `write`: creates or replaces a whole file. */
import { alsoNamed, described, objectOf, text } from "@meridian/protocol"

import { FILE_PATH, toolInput } from "../port/tool-input.ts"
import { ToolError, type Tool, type BuiltinTool } from "../port/tool.ts"
import { throwIfAborted } from "./describe-error.ts"
import type { FileLocks } from "./file-locks.ts"
import { TOOL_LIMITS } from "./limits.ts"
import { replaceFile } from "./replace-file.ts"
import { askForExternal, resolvePath, type Place } from "./resolve-path.ts"

export interface WriteOptions extends Place {
  readonly locks: FileLocks
}

const INPUT = toolInput(
  objectOf({
    path: FILE_PATH("File to write, relative to the working directory"),
    content: alsoNamed(
      described(text({ most: TOOL_LIMITS.writeBytes }), "The whole new content"),
      "contents",
      "text",
    ),
  }),
)

export const writeTool = (options: WriteOptions): Tool => ({
  advertisement: {
    name: "write",
    description:
      "Writes a whole file, creating missing directories; an existing file is replaced at once and completely. At most " +
      `${TOOL_LIMITS.writeBytes / 1024 / 1024} MiB. To change a part of a file use edit or apply_patch.`,
    input: INPUT.schema,
  },
  execute: async (raw, scene) => {
    const input = INPUT.decode(raw)
    const bytes = Buffer.from(input.content)
    if (bytes.length > TOOL_LIMITS.writeBytes)
      throw new ToolError(
        "invalid-input",
        `\`content\` has ${bytes.length} bytes; at most ${TOOL_LIMITS.writeBytes} are accepted.`,
      )
    if (input.path.endsWith("/"))
      throw new ToolError("invalid-input", "`path` names a directory; write needs the name of a file.")
    const path = await resolvePath(options, input.path)
    await askForExternal(scene, [path], "Write a file")
    await scene.ask({
      action: "edit",
      resources: [path.resource],
      title: `Write ${path.resource}`,
      detail: {
        path: path.resource,
        bytes: bytes.length,
        start: input.content.slice(0, TOOL_LIMITS.detailCharacters),
      },
    })
    return options.locks.hold([path.absolute], async () => {
      throwIfAborted(scene.signal)
      const outcome = await replaceFile(path, bytes, { type: "anything" })
      const verb = outcome === "created" ? "Created" : "Replaced"
      return {
        content: [{ type: "text", text: `${verb} ${path.resource} (${bytes.length} bytes).` }],
        structured: { path: path.resource, bytes: bytes.length, outcome },
      }
    })
  },
})

export const WRITE: BuiltinTool<WriteOptions> = {
  name: "write",
  traits: { kind: "edit", action: "edit", changes: "asked" },
  open: writeTool,
}
