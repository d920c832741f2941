/**
 * The sentences of a text, word for word. Fenced code, quoted lines and lines too long for speech are skipped: a pasted log
 * contains "never" without anyone asking for it. One pass, bounded by the length of the text.
 */
export const SENTENCE_LIMITS = { textLength: 64 * 1024, lineLength: 4_000, sentenceLength: 600 } as const

export const sentencesOf = (text: string): readonly string[] => {
  const sentences: string[] = []
  let isCode = false
  for (const line of headOf(text).split("\n")) {
    const trimmed = line.trim()
    if (/^(?:```|~~~)/.test(trimmed)) {
      isCode = !isCode
      continue
    }
    if (isCode || trimmed === "" || trimmed.startsWith(">") || trimmed.length > SENTENCE_LIMITS.lineLength)
      continue
    for (const sentence of splitLine(trimmed.replace(BULLET, "")))
      if (sentence.length <= SENTENCE_LIMITS.sentenceLength) sentences.push(sentence)
  }
  return sentences
}

/** The beginning and the end of a long text: instructions come first or last, pasted material in between. */
const headOf = (text: string): string => {
  const { textLength } = SENTENCE_LIMITS
  if (text.length <= textLength) return text
  return `${text.slice(0, textLength / 2)}\n${text.slice(-textLength / 2)}`
}

const BULLET = /^(?:[-*+•]|\d{1,3}[.)])\s+/

/**
 * A full stop ends a sentence when a blank and the start of another sentence follow: `v2.1`, `app.ts` and `e.g. this`
 * continue.
 */
const STOP = /[.!?](?:["'”’)]*)(?=\s+["'“‘(`]?[\p{Lu}\p{N}/`])/gu

const ABBREVIATION = /(?:^|\s)(?:e\.g|i\.e|etc|vs|cf|approx|no|mr|mrs|dr|st)\.$/i

const splitLine = (line: string): readonly string[] => {
  const parts: string[] = []
  let from = 0
  for (const match of line.matchAll(STOP)) {
    const end = match.index + match[0].length
    if (ABBREVIATION.test(line.slice(from, end))) continue
    parts.push(line.slice(from, end).trim())
    from = end
  }
  parts.push(line.slice(from).trim())
  return parts.filter((part) => part !== "")
}
