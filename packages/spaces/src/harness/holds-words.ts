/** Whether a conversation in JSON lines with times contains all these words since a moment. Never throws. */
import type { WordSearch } from "../port/harness.ts"
import { addedLines } from "./added-lines.ts"

export const holdsWords = async (
  path: string,
  { words, sinceMs }: Pick<WordSearch, "words" | "sinceMs">,
): Promise<boolean> => {
  const missing = new Set(words.map((text) => JSON.stringify(text).slice(1, -1)))
  await addedLines(path)((line) => {
    const at = Date.parse(TIME.exec(line)?.[1] ?? "")
    if (!(at >= sinceMs)) return
    for (const text of missing) if (line.includes(text)) missing.delete(text)
  })
  return missing.size === 0
}

const TIME = /"timestamp":"([^"]{1,40})"/
