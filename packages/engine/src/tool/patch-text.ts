/**
 * The `*** Begin Patch` format, parsed completely before anything happens. A patch is a list of sections: add (every line
 * starts with +), delete, update (chunks of context, - and + lines, each optionally after `@@ a line to look for`). An
 * update may move its file, with or without changing it. A heredoc around the patch is removed.
 */
import { TOOL_LIMITS } from "./limits.ts"

export interface PatchChunk {
  /** Lines to find before the chunk, in order. */
  readonly headers: readonly string[]
  readonly before: readonly string[]
  readonly after: readonly string[]
  readonly atEnd: boolean
}

export type PatchSection =
  | { readonly type: "add"; readonly path: string; readonly text: string }
  | { readonly type: "delete"; readonly path: string }
  | {
      readonly type: "update"
      readonly path: string
      /** The new path of a moved file. */
      readonly to?: string
      /** Empty: the file is only moved. */
      readonly chunks: readonly PatchChunk[]
    }

export type ParsedPatch =
  | { readonly type: "patch"; readonly sections: readonly PatchSection[] }
  | { readonly type: "refused"; readonly why: string }

const BEGIN = "*** Begin Patch"
const END = "*** End Patch"
const ADD = "*** Add File:"
const DELETE = "*** Delete File:"
const UPDATE = "*** Update File:"
const MOVE = "*** Move to:"
const END_OF_FILE = "*** End of File"

export const parsePatch = (patchText: string): ParsedPatch => {
  const lines = withoutHeredoc(patchText.replaceAll("\r\n", "\n").trim()).trim().split("\n")
  if (lines[0]?.trim() !== BEGIN) return refuse(`the first line must be "${BEGIN}"`)
  if (lines.at(-1)?.trim() !== END) return refuse(`the last line must be "${END}"`)
  const sections: PatchSection[] = []
  let at = 1
  while (at < lines.length - 1) {
    const line = lines[at] ?? ""
    if (line.trim() === "") {
      at++
      continue
    }
    const end = sectionEnd(lines, at + 1)
    const section = parseSection(line, lines.slice(at + 1, end), at + 1)
    if (typeof section === "string") return refuse(section)
    sections.push(section)
    if (sections.length > TOOL_LIMITS.patchFiles)
      return refuse(`it changes more than ${TOOL_LIMITS.patchFiles} files`)
    at = end
  }
  return sections.length === 0 ? refuse("it changes no file") : { type: "patch", sections }
}

const withoutHeredoc = (patchText: string): string => {
  const start = /^(?:[\w./-]+[ \t]+)?<<-?[ \t]*(['"]?)([A-Za-z_]\w*)\1[ \t]*\n/.exec(patchText)
  const word = start?.[2]
  if (start === null || word === undefined) return patchText
  const body = patchText.slice(start[0].length)
  const lines = body.split("\n")
  return lines.at(-1)?.trim() === word ? lines.slice(0, -1).join("\n") : body
}

const sectionEnd = (lines: readonly string[], start: number): number => {
  let end = start
  while (end < lines.length - 1 && ![ADD, DELETE, UPDATE].some((mark) => lines[end]?.startsWith(mark))) end++
  return end
}

/** Returns a sentence when the section is refused. Line numbers refer to the patch, counted from 1. */
const parseSection = (head: string, body: readonly string[], number: number): PatchSection | string => {
  const mark = [ADD, DELETE, UPDATE].find((candidate) => head.startsWith(candidate))
  if (mark === undefined)
    return `line ${number} must start with "${ADD}", "${UPDATE}" or "${DELETE}": ${JSON.stringify(head.slice(0, 80))}`
  const path = head.slice(mark.length).trim()
  if (path === "") return `line ${number} names no file`
  if (mark === ADD) return parseAdd(path, body)
  if (mark === UPDATE) return parseUpdate(path, body)
  return body.some((line) => line.trim() !== "")
    ? `the section that deletes ${path} may have no lines`
    : { type: "delete", path }
}

const parseAdd = (path: string, body: readonly string[]): PatchSection | string => {
  const lines = trimTrailingEmpty(body)
  const wrong = lines.find((line) => !line.startsWith("+"))
  if (wrong !== undefined)
    return `every line added to ${path} must start with +: ${JSON.stringify(wrong.slice(0, 80))}`
  return { type: "add", path, text: lines.map((line) => `${line.slice(1)}\n`).join("") }
}

const parseUpdate = (path: string, body: readonly string[]): PatchSection | string => {
  const first = body[0] ?? ""
  const to = first.startsWith(MOVE) ? first.slice(MOVE.length).trim() : undefined
  if (to === "") return `the line that moves ${path} does not say where`
  const chunks: PatchChunk[] = []
  let chunk = emptyChunk()
  const close = (): void => {
    if (chunk.before.length + chunk.after.length > 0) chunks.push(chunk)
    chunk = emptyChunk()
  }
  for (const line of trimTrailingEmpty(to === undefined ? body : body.slice(1))) {
    const text = line.slice(1)
    if (line.startsWith("@@")) {
      if (chunk.before.length + chunk.after.length > 0 || chunk.atEnd) close()
      const header = line.slice(2).replace(/^ /, "").replace(/ ?@@$/, "")
      // `@@ -1,3 +1,4 @@` gives line numbers, which models get wrong. The context decides.
      if (header.trim() !== "" && !/^-\d+(,\d+)? \+\d+(,\d+)?/.test(header.trim())) chunk.headers.push(header)
    } else if (line.trim() === END_OF_FILE) {
      chunk.atEnd = true
      close()
    } else if (line === "" || line.startsWith(" ")) {
      chunk.before.push(text)
      chunk.after.push(text)
    } else if (line.startsWith("-")) chunk.before.push(text)
    else if (line.startsWith("+")) chunk.after.push(text)
    else return `a line of ${path} starts with neither space, + nor -: ${JSON.stringify(line.slice(0, 80))}`
  }
  close()
  const changes = chunks.filter(
    ({ before, after }) => before.length !== after.length || before.some((line, at) => line !== after[at]),
  )
  if (to !== undefined) return { type: "update", path, to, chunks: changes.length === 0 ? [] : chunks }
  if (changes.length === 0) return `the section of ${path} changes nothing`
  return { type: "update", path, chunks }
}

const emptyChunk = () => ({
  headers: new Array<string>(),
  before: new Array<string>(),
  after: new Array<string>(),
  atEnd: false,
})

/** Models put an empty line between sections. It belongs to neither. */
const trimTrailingEmpty = (lines: readonly string[]): readonly string[] => {
  let end = lines.length
  while (end > 0 && lines[end - 1] === "") end--
  return lines.slice(0, end)
}

const refuse = (why: string): ParsedPatch => ({ type: "refused", why })
