/**
 * A summary may not put words into a person's mouth. Whatever it presents as said or asked by the user is looked up in
 * what the user really said; what is not there is taken out and named.
 */
export interface CheckedSummary {
  readonly summary: string
  readonly removed: readonly string[]
}

export const checkQuotes = (summary: string, userTexts: readonly string[]): CheckedSummary => {
  const said = userTexts.map(normalize)
  const words = new Set(said.flatMap((text) => text.split(" ").map(stem)))
  const removed: string[] = []
  const lines = summary.split("\n").map((line) => {
    const attributed = ATTRIBUTION.exec(line)
    if (attributed === null) return line
    const lead = line.slice(0, attributed.index + attributed[0].length)
    const rest = line.slice(lead.length)
    const quotes = [...rest.matchAll(QUOTED)].map((match) => match[0].slice(1, -1))
    const invented = quotes.filter((quote) => quote.trim().length >= SHORTEST && !isSaid(quote, said))
    if (invented.length > 0) {
      removed.push(...invented.map((quote) => quote.trim()))
      return invented.reduce((text, quote) => text.replaceAll(quote, REMOVED), line)
    }
    if (quotes.length > 0 || rest.trim().length < SHORTEST || isSaid(rest, said) || isParaphrase(rest, words))
      return line
    removed.push(rest.trim())
    return `${lead} ${REMOVED}`
  })
  return removed.length === 0 ? { summary, removed } : { summary: `${MARK}\n${lines.join("\n")}`, removed }
}

const isSaid = (quote: string, said: readonly string[]): boolean => {
  const wanted = normalize(quote)
  return wanted === "" || said.some((text) => text.includes(wanted))
}

/** A claim in other words must at least be made of the user's: half of what it is about was spoken of. */
const isParaphrase = (claim: string, words: ReadonlySet<string>): boolean => {
  const about = normalize(claim)
    .split(" ")
    .filter((word) => word.length >= 4)
  if (about.length === 0) return true
  return about.filter((word) => words.has(stem(word))).length * 2 >= about.length
}

/** Enough of a word that its endings do not matter. */
const stem = (word: string): string => word.slice(0, 3)

const REMOVED = "[removed: the user did not say this]"
const MARK = "(Checked against the log: quotes that nobody said were removed.)"
/** Too short to mean an instruction of its own. */
const SHORTEST = 8
/** "the user asked", "User request:", "user wants", "as the user said:" and the like. */
const ATTRIBUTION =
  /\b(?:the )?users?(?:'s)?\s+(?:\w+\s+){0,2}?(?:ask(?:s|ed)?(?: (?:for|to|us|me))?|requests?(?:ed)?|want(?:s|ed)?|said|says|told(?: us| me)?|instruct(?:s|ed|ions?)|demand(?:s|ed)?|order(?:s|ed)?|messages?|prompts?|quotes?)\b:?/i
const QUOTED = /"[^"\n]{1,2000}"|“[^”\n]{1,2000}”|«[^»\n]{1,2000}»|`[^`\n]{1,2000}`/g

const normalize = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
