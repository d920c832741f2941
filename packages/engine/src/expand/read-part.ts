/** One file or folder as a part of a prompt: opened as tools open files, bounded like a page of `read`. */
import { createHash } from "node:crypto"

import type { PromptPart } from "@meridian/protocol"

import type { Lines } from "../domain/mentions.ts"
import { ToolError } from "../port/tool.ts"
import { TOOL_LIMITS } from "../tool/limits.ts"
import { mediaTypeOf } from "../tool/media-type.ts"
import { openVerified, type OpenedFile } from "../tool/open-verified.ts"
import { readAtMost } from "../tool/read-at-most.ts"
import { listDirectory } from "../tool/read-directory.ts"
import { readPageText } from "../tool/read-page.ts"
import type { ResolvedPath } from "../tool/resolve-path.ts"

export interface Wanted {
  /** As the user wrote it. */
  readonly source: string
  /** As the model is told. */
  readonly name: string
  readonly lines?: Lines | undefined
  readonly signal: AbortSignal
}

/** Rejects with a ToolError that says why it cannot be read. */
export const readPart = async (path: ResolvedPath, wanted: Wanted): Promise<PromptPart> => {
  await using opened = await openVerified(path)
  return opened.stats.isDirectory() ? await readFolder(path, wanted) : await readFile(path, opened, wanted)
}

const readFolder = async (path: ResolvedPath, { source, name, signal }: Wanted): Promise<PromptPart> => {
  const listed = await listDirectory(path, { offset: 1, limit: undefined, signal })
  const text = listed.content.map((part) => (part.type === "text" ? part.text : "")).join("\n")
  return {
    type: "text",
    kind: "directory",
    source,
    name,
    text,
    bytes: Buffer.byteLength(text),
    sha256: sha256(text),
  }
}

const readFile = async (path: ResolvedPath, opened: OpenedFile, wanted: Wanted): Promise<PromptPart> => {
  const { source, name, lines, signal } = wanted
  const sample = await readAtMost(opened.handle, TOOL_LIMITS.readSampleBytes)
  const mediaType = mediaTypeOf(sample, path.absolute)
  const bytes = Number(opened.stats.size)
  if (mediaType !== undefined) return readMedia(opened, { ...wanted, mediaType, bytes })
  const offset = lines?.from ?? 1
  const limit = lines?.through === undefined ? undefined : lines.through - offset + 1
  const page = await readPageText(path, opened, { offset, limit, signal, sample })
  const isWhole = page.next === undefined || (limit !== undefined && page.lines === limit)
  const isPart = lines !== undefined || !isWhole
  return {
    type: "text",
    kind: "file",
    source,
    name,
    text: page.text,
    bytes,
    sha256: sha256(page.text),
    ...(isPart && page.lines > 0 ? { from: offset, through: offset + page.lines - 1 } : {}),
    ...(isWhole && page.cutLines === 0 ? {} : { cut: true }),
  }
}

/** Types that every provider can show, or reports that it cannot. */
const SHOWN = /^(?:image\/(?:png|jpeg|gif|webp)|application\/pdf)$/u

const readMedia = async (
  { handle }: OpenedFile,
  { source, name, mediaType, bytes, lines }: Wanted & { readonly mediaType: string; readonly bytes: number },
): Promise<PromptPart> => {
  if (!SHOWN.test(mediaType))
    throw new ToolError("failed", `${name} is binary (${mediaType}, ${bytes} bytes).`)
  if (lines !== undefined) throw new ToolError("failed", `${name} is ${mediaType} and has no lines.`)
  if (bytes > TOOL_LIMITS.readMediaBytes)
    throw new ToolError(
      "failed",
      `${name} has ${bytes} bytes; images and documents go along up to ${TOOL_LIMITS.readMediaBytes / 1024 / 1024} MiB.`,
    )
  const content = await readAtMost(handle, TOOL_LIMITS.readMediaBytes)
  return {
    type: "media",
    source,
    name,
    mediaType,
    base64: content.toString("base64"),
    bytes,
    sha256: sha256(content),
  }
}

export const sha256 = (content: string | Buffer): string => createHash("sha256").update(content).digest("hex")
