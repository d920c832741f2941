/** A page of a text file by lines, streamed. A file of any size costs only the page and what comes before it. */
import { StringDecoder } from "node:string_decoder"

import { ToolError, type ToolOutput } from "../port/tool.ts"
import { throwIfAborted } from "./describe-error.ts"
import { TOOL_LIMITS } from "./limits.ts"
import type { OpenedFile } from "./open-verified.ts"
import type { ResolvedPath } from "./resolve-path.ts"

const CHUNK = 64 * 1024

export interface PageRequest {
  readonly offset: number
  readonly limit: number | undefined
  readonly signal: AbortSignal
  /** The first bytes, already read. */
  readonly sample: Buffer
}

/** The lines of a page, unchanged. */
export interface PageText {
  readonly text: string
  readonly lines: number
  /** The line at which the next page starts. */
  readonly next?: number
  /** How many lines were too long. */
  readonly cutLines: number
}

export const readPage = async (
  path: ResolvedPath,
  opened: OpenedFile,
  request: PageRequest,
): Promise<ToolOutput> => pageOutput(path, await readPageText(path, opened, request), request)

export const readPageText = async (
  path: ResolvedPath,
  opened: OpenedFile,
  request: PageRequest,
): Promise<PageText> => {
  const page = collectPage(request)
  const decoder = new StringDecoder("utf8")
  page.push(decoder.write(request.sample))
  // The sample may already contain all of a small file.
  let rest = Number(opened.stats.size) !== request.sample.length
  const chunk = Buffer.allocUnsafe(rest ? CHUNK : 0)
  for (let position = request.sample.length; rest && !page.full();) {
    throwIfAborted(request.signal)
    if (position > TOOL_LIMITS.readScanBytes) throw tooFar(path, request.offset)
    const { bytesRead } = await opened.handle.read(chunk, 0, chunk.length, position)
    page.push(decoder.write(chunk.subarray(0, bytesRead)))
    position += bytesRead
    rest = bytesRead > 0
  }
  page.push(decoder.end())
  page.end()
  return page.text()
}

const collectPage = (request: PageRequest) => {
  const limit = Math.min(request.limit ?? TOOL_LIMITS.readLines, TOOL_LIMITS.readLines)
  const kept: string[] = []
  let bytes = 0
  let number = 1
  let line = ""
  let lineIsCut = false
  let cutLines = 0
  let full = false
  let ended = false
  let started = false

  const addToLine = (part: string): void => {
    if (number < request.offset) return
    const room = TOOL_LIMITS.readLineCharacters - line.length
    // Keeps one extra character for a carriage return, which does not count as cut.
    if (part.length > room + 1) lineIsCut = true
    line += part.slice(0, Math.max(0, room + 1))
  }

  const closeLine = (ending: string): void => {
    if (number >= request.offset) {
      const carriage = line.endsWith("\r") ? "\r" : ""
      const body = carriage === "" ? line : line.slice(0, -1)
      const isCut = lineIsCut || body.length > TOOL_LIMITS.readLineCharacters
      const shown = isCut ? `${wholeCharacters(body)}... (line cut)` : body + carriage
      const size = Buffer.byteLength(shown) + ending.length
      if (kept.length >= limit || (kept.length > 0 && bytes + size > TOOL_LIMITS.readBytes)) {
        full = true
        return
      }
      kept.push(shown + ending)
      bytes += size
      if (isCut) cutLines++
    }
    number++
    line = ""
    lineIsCut = false
  }

  const push = (text: string): void => {
    if (full) return
    let start = 0
    if (!started && text !== "") {
      started = true
      if (text.startsWith("\uFEFF")) start = 1
    }
    for (let at = text.indexOf("\n", start); at !== -1; at = text.indexOf("\n", start)) {
      addToLine(text.slice(start, at))
      closeLine("\n")
      if (full) return
      start = at + 1
    }
    addToLine(text.slice(start))
  }

  const end = (): void => {
    if (full) return
    if (line !== "" || lineIsCut) closeLine("")
    ended = !full
  }

  const text = (): PageText => {
    if (kept.length === 0 && request.offset > 1)
      throw new ToolError(
        "invalid-input",
        `\`offset\` ${request.offset} is beyond the end: the file has ${number - 1} lines.`,
      )
    return {
      text: kept.join(""),
      lines: kept.length,
      cutLines,
      ...(ended ? {} : { next: request.offset + kept.length }),
    }
  }

  return { push, end, text, full: () => full }
}

const pageOutput = (
  path: ResolvedPath,
  { text: body, lines, next, cutLines }: PageText,
  { offset }: PageRequest,
): ToolOutput => {
  const notes = [
    ...(lines === 0 ? ["(empty file)"] : []),
    ...(next === undefined
      ? []
      : [`(lines ${offset}-${next - 1}; there is more: continue with offset ${next})`]),
    ...(cutLines === 0 ? [] : [`(lines longer than ${TOOL_LIMITS.readLineCharacters} characters were cut)`]),
  ]
  const gap = body === "" ? "" : body.endsWith("\n") ? "\n" : "\n\n"
  return {
    content: [{ type: "text", text: notes.length === 0 ? body : `${body}${gap}${notes.join("\n")}` }],
    structured: { type: "text", path: path.resource, offset, lines, ...(next === undefined ? {} : { next }) },
  }
}

/** A cut between the two halves of a character would leave half of it. */
const wholeCharacters = (body: string): string => {
  const cut = body.slice(0, TOOL_LIMITS.readLineCharacters)
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut
}

const tooFar = (path: ResolvedPath, offset: number): ToolError =>
  new ToolError(
    "failed",
    `Line ${offset} of ${JSON.stringify(path.named)} lies too far inside the file (more than ${TOOL_LIMITS.readScanBytes / 1024 / 1024} MiB); search it with grep or bash.`,
  )
