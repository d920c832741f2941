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
  const removed: string[] = []
  const isSaid = (quote: string): boolean => {
    const wanted = normalize(quote)
    return wanted === "" || said.some((text) => text.includes(wanted))
  }
  const lines = summary.split("\n").map((line) => {
    const attributed = ATTRIBUTION.exec(line)
    if (attributed === null) return line
    const rest = line.slice(attributed.index + attributed[0].length)
    const quotes = [...rest.matchAll(QUOTED)].map((match) => match[0].slice(1, -1))
    const claims = quotes.length > 0 ? quotes : attributed[0].trimEnd().endsWith(":") ? [rest] : []
    const invented = claims.filter((claim) => claim.trim().length >= SHORTEST && !isSaid(claim))
    if (invented.length === 0) return line
    removed.push(...invented.map((claim) => claim.trim()))
    return quotes.length > 0
      ? invented.reduce((text, claim) => text.replaceAll(claim, REMOVED), line)
      : `${line.slice(0, attributed.index + attributed[0].length)} ${REMOVED}`
  })
  return removed.length === 0 ? { summary, removed } : { summary: `${MARK}\n${lines.join("\n")}`, removed }
}

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
