/** How wide text is on a terminal, and where it breaks. A grapheme (a letter with its marks, an emoji) is never cut. Pure. */
import stringWidth from "string-width"

export const widthOf = (text: string): number => (ASCII.test(text) ? text.length : stringWidth(text))

const ASCII = /^[ -~]*$/

export const graphemesOf = (text: string): readonly string[] =>
  ASCII.test(text) ? text.split("") : Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)

/** At most `width` columns; an ellipsis replaces the rest. */
export const cutTo = (text: string, width: number): string => {
  if (widthOf(text) <= width) return text
  let kept = ""
  let used = 0
  for (const grapheme of graphemesOf(text)) {
    used += widthOf(grapheme)
    if (used > width - 1) break
    kept += grapheme
  }
  return width < 1 ? "" : `${kept}…`
}

/**
 * Rows of at most `width` columns, broken between words if possible. At least one row. The line must not contain a
 * newline.
 */
export const wrapLine = (line: string, width: number): readonly string[] => {
  const most = Math.max(2, width)
  if (widthOf(line) <= most) return [line]
  const rows: string[] = []
  let row = ""
  let used = 0
  const breakRow = (): void => {
    rows.push(row.trimEnd())
    row = ""
    used = 0
  }
  for (const word of line.match(/\s+|\S+/gu) ?? []) {
    const wide = widthOf(word)
    if (used > 0 && used + wide > most) {
      if (/^\s/u.test(word)) {
        breakRow()
        continue
      }
      breakRow()
    }
    if (wide <= most) {
      row += word
      used += wide
      continue
    }
    for (const grapheme of graphemesOf(word)) {
      const one = widthOf(grapheme)
      if (used > 0 && used + one > most) breakRow()
      row += grapheme
      used += one
    }
  }
  rows.push(row)
  return rows
}

export const wrapText = (text: string, width: number): readonly string[] =>
  text.split("\n").flatMap((line) => wrapLine(line, width))
