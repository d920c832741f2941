/** `read`: a page of a text file, a small binary file, or a page of a directory, only where `read-places.ts` allows it. */
import { basename, dirname } from "node:path"

import { described, integer, nearest, objectOf } from "@meridian/protocol"

import { FILE_PATH, SOME_TEXT, toolInput } from "../port/tool-input.ts"
import { ToolError, type ToolOutput, type BuiltinTool } from "../port/tool.ts"
import type { SelfBoundedTool } from "./bound-output.ts"
import { fileError, throwIfAborted } from "./describe-error.ts"
import { TOOL_LIMITS } from "./limits.ts"
import { mediaTypeOf } from "./media-type.ts"
import { openVerified, type OpenedFile } from "./open-verified.ts"
import { readAtMost } from "./read-at-most.ts"
import { listDirectory, listNames } from "./read-directory.ts"
import { readPage } from "./read-page.ts"
import { resolveReadable, type ReadPlaces } from "./read-places.ts"
import type { ResolvedPath } from "./resolve-path.ts"

const FROM_1 = integer(1, Number.MAX_SAFE_INTEGER)

const INPUT = toolInput(
  objectOf(
    { path: FILE_PATH("File or directory, relative to the working directory") },
    {
      reference: described(
        SOME_TEXT,
        'Where the path starts instead: "output" for a kept output, or the name of a reference you were told',
      ),
      offset: described(
        FROM_1,
        "First line of the file, or first entry of the directory, to return; counted from 1 (default 1)",
      ),
      limit: described(
        FROM_1,
        `How many lines (at most ${TOOL_LIMITS.readLines}) or entries (at most ${TOOL_LIMITS.directoryEntries}) to return`,
      ),
    },
  ),
)

export const readTool = (places: ReadPlaces): SelfBoundedTool => ({
  boundsOwnOutput: true,
  advertisement: {
    name: "read",
    description:
      `Reads a file or lists a directory of the project. Text comes as it is, without line numbers, at most ` +
      `${TOOL_LIMITS.readLines} lines or ${TOOL_LIMITS.readBytes / 1024} KiB a page; lines are cut at ` +
      `${TOOL_LIMITS.readLineCharacters} characters; a cut page says which offset continues it. Images and other binary ` +
      `files up to ${TOOL_LIMITS.readMediaBytes / 1024 / 1024} MiB come as media. A directory lists its direct children, ` +
      `directories first. Absolute paths and paths outside the project are refused.`,
    input: INPUT.schema,
  },
  execute: async (raw, scene) => {
    const input = INPUT.decode(raw)
    const path = await resolveReadable(places, input.path, input.reference)
    await scene.ask({ action: "read", resources: [path.resource], title: `Read ${path.resource}` })
    throwIfAborted(scene.signal)
    const offset = input.offset ?? 1
    try {
      await using opened = await openOrSuggest(path)
      if (opened.stats.isDirectory())
        return await listDirectory(path, { offset, limit: input.limit, signal: scene.signal })
      return await readFileContent(path, opened, { offset, limit: input.limit, signal: scene.signal })
    } catch (error) {
      throw fileError(error, path.named)
    }
  },
})

export const READ: BuiltinTool<ReadPlaces> = {
  name: "read",
  traits: {
    kind: "read",
    changes: "none",
    looking: { at: "project" },
    fileRead: (input) => {
      const { path, reference } = INPUT.decode(input)
      return { path, ...(reference === undefined ? {} : { reference }) }
    },
  },
  open: readTool,
}

const readFileContent = async (
  path: ResolvedPath,
  opened: OpenedFile,
  options: { readonly offset: number; readonly limit: number | undefined; readonly signal: AbortSignal },
): Promise<ToolOutput> => {
  const sample = await readAtMost(opened.handle, TOOL_LIMITS.readSampleBytes)
  const mediaType = mediaTypeOf(sample, path.absolute)
  if (mediaType === undefined) return readPage(path, opened, { ...options, sample })
  const size = opened.stats.size
  if (size > BigInt(TOOL_LIMITS.readMediaBytes))
    throw new ToolError(
      "failed",
      `${JSON.stringify(path.named)} is binary (${mediaType}) and has ${size} bytes; at most ${TOOL_LIMITS.readMediaBytes} are read.`,
    )
  const bytes = await readAtMost(opened.handle, TOOL_LIMITS.readMediaBytes)
  return {
    content: [
      { type: "text", text: `${path.resource}: ${mediaType}, ${bytes.length} bytes` },
      { type: "media", mediaType, base64: bytes.toString("base64") },
    ],
    structured: { type: "binary", path: path.resource, mediaType, bytes: bytes.length },
  }
}

const openOrSuggest = async (path: ResolvedPath): Promise<OpenedFile> => {
  try {
    return await openVerified(path)
  } catch (error) {
    if (!(error instanceof ToolError) || error.code !== "not-found") throw error
    const siblings = await listNames({ ...path, absolute: dirname(path.absolute) }).catch(() => [])
    const near = nearest(basename(path.absolute), siblings)
    if (near === undefined) throw error
    throw new ToolError("not-found", `${error.message} There is ${JSON.stringify(near)} beside it.`, {
      cause: error,
    })
  }
}
