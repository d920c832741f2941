/**
 * Finds where the chunks of an update belong in a text. Lines are compared exactly first, then without trailing whitespace,
 * then without surrounding whitespace, then with typographic characters (dashes, quotes, spaces) read as plain ones,
 * because models copy text with small changes. The first comparison that finds a place wins. Pure.
 */
import type { PatchChunk } from "./patch-text.ts"
import { usesCarriageReturns, withCarriageReturns } from "./text-file.ts"

export type PatchedText =
  | { readonly type: "patched"; readonly text: string }
  | { readonly type: "refused"; readonly why: string }

type Look = (line: string) => string

const LOOKS: readonly Look[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
  (line) => plainCharacters(line).trim(),
]

export const applyChunks = (whole: string, chunks: readonly PatchChunk[]): PatchedText => {
  const carriage = usesCarriageReturns(whole)
  const endsWithBreak = whole === "" || whole.endsWith("\n")
  const lines = (carriage ? whole.replaceAll("\r\n", "\n") : whole).split("\n")
  if (endsWithBreak) lines.pop()
  const parts: (readonly string[])[] = []
  let from = 0
  for (const chunk of chunks) {
    const place = findChunk(lines, chunk, from)
    if (typeof place === "string") return { type: "refused", why: place }
    parts.push(lines.slice(from, place), replacement(lines, chunk, place))
    from = place + chunk.before.length
  }
  const result = [...parts, lines.slice(from)].flat()
  const joined = result.join("\n") + (endsWithBreak && result.length > 0 ? "\n" : "")
  return { type: "patched", text: carriage ? withCarriageReturns(joined) : joined }
}

/** Context lines stay as they are in the file, even when they matched only loosely. */
const replacement = (lines: readonly string[], chunk: PatchChunk, place: number): readonly string[] => {
  let start = 0
  const most = Math.min(chunk.before.length, chunk.after.length)
  while (start < most && chunk.before[start] === chunk.after[start]) start++
  let end = 0
  while (end < most - start && chunk.before.at(-1 - end) === chunk.after.at(-1 - end)) end++
  return [
    ...lines.slice(place, place + start),
    ...chunk.after.slice(start, chunk.after.length - end),
    ...lines.slice(place + chunk.before.length - end, place + chunk.before.length),
  ]
}

/** The first line of the chunk, or a sentence that says what was not found. */
const findChunk = (lines: readonly string[], chunk: PatchChunk, from: number): number | string => {
  let start = from
  for (const header of chunk.headers) {
    const at = find(lines, [header], start)
    if (at === -1) return `the line ${JSON.stringify(header.slice(0, 200))} was not found`
    start = at + 1
  }
  // Without lines to find, the new lines go after the header, or at the end of the file.
  if (chunk.before.length === 0) return chunk.headers.length === 0 || chunk.atEnd ? lines.length : start
  const last = lines.length - chunk.before.length
  const atEnd = chunk.atEnd && last >= start ? find(lines, chunk.before, last) : -1
  const place = atEnd === -1 ? find(lines, chunk.before, start) : atEnd
  if (place !== -1) return place
  // Models often repeat the header as the first context line.
  const repeated = chunk.headers.length > 0 ? find(lines, chunk.before, Math.max(from, start - 1)) : -1
  if (repeated !== -1) return repeated
  const shown = chunk.before.slice(0, 5).join("\n")
  const where =
    from > 0 && find(lines, chunk.before, 0) !== -1
      ? " after the previous chunk (chunks must be in the order of the file)"
      : ""
  return `these lines were not found${where}; read the file and copy them exactly:\n${shown.slice(0, 1000)}`
}

const find = (lines: readonly string[], wanted: readonly string[], from: number): number => {
  for (const look of LOOKS) {
    const looked = wanted.map(look)
    const first = looked[0] ?? ""
    for (let at = from; at <= lines.length - wanted.length; at++) {
      if (look(lines[at] ?? "") !== first) continue
      if (looked.every((line, index) => line === look(lines[at + index] ?? ""))) return at
    }
  }
  return -1
}

const plainCharacters = (line: string): string =>
  line
    .normalize("NFKC")
    .replaceAll(/[\u2010-\u2015\u2212]/g, "-")
    .replaceAll(/[\u2018-\u201B]/g, "'")
    .replaceAll(/[\u201C-\u201F]/g, '"')
    .replaceAll(/[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g, " ")
    .replaceAll("\u2026", "...")
