/** What later work needs from the notes of a workflow: the bullets of a section, a field, the first meaningful line. */
import { readItems } from "../markdown/item.ts"
import type { Line } from "../markdown/line.ts"
import { isTakenBack, saysNothing } from "../session/absence.ts"
import type { Document } from "./stage.ts"

/** Items under every heading whose lower-case text matches, each up to the next heading that is not deeper. */
export const readSections = (
  { lines }: Document,
  isTitle: (heading: string) => boolean,
): readonly string[] => {
  const chosen: Line[] = []
  let level = 0
  for (const line of lines) {
    if (line.kind === "heading" && (level === 0 || line.level <= level))
      level = isTitle(line.text.toLowerCase()) ? line.level : 0
    else if (level > 0) chosen.push(line)
  }
  return readItems(chosen, () => false)
    .map((item) => item.text)
    .filter(isStatement)
}

/** All bullets of a text. */
export const readBullets = ({ lines }: Document): readonly string[] =>
  readItems(lines, () => false)
    .filter(({ bullet }) => bullet)
    .map((item) => item.text)
    .filter(isStatement)

/** `Name: value` on its own line, with or without bullet and bold type. The last one counts. */
export const readField = ({ lines }: Document, name: string): string | undefined => {
  const prefix = `${name.toLowerCase()}:`
  const values = lines.flatMap((line) => {
    const plain = line.text.replaceAll("**", "")
    return plain.slice(0, prefix.length).toLowerCase() === prefix ? [plain.slice(prefix.length).trim()] : []
  })
  // "none" records nothing. "0" does: no batch is complete yet.
  return values.findLast((value) => isStatement(value) || /^\d{1,6}\.?$/.test(value))
}

/** The first line with content other than a heading; a heading when there is nothing else. */
export const firstStatement = ({ lines }: Document): string | undefined => {
  const statements = lines.filter(
    ({ kind, text: said }) => kind !== "blank" && kind !== "rule" && isStatement(said),
  )
  return (statements.find(({ kind }) => kind !== "heading") ?? statements[0])?.text
}

const isStatement = (text: string): boolean => !saysNothing(text) && !isTakenBack(text)
