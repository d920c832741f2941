/**
 * A summary may not put words into a person's mouth. Everything it attributes to the user is looked up in what the user
 * really said, and what is not found there is reported.
 *
 * Attributed to the user: a quotation on a line that mentions the user, or under such a heading; what follows "User:" or
 * "the user wants"; a list item or block quote under such a heading. A paraphrase passes when half of its topic was
 * mentioned.
 */
export interface CheckedSummary {
  readonly summary: string
  readonly removed: readonly string[]
}

export const QUOTE_LIMITS = {
  summaryLength: 64 * 1024,
  lineLength: 2_000,
  claims: 20,
  claimLength: 300,
} as const

/** Claims in the summary about the user's requests that no message of the user supports. */
export const inventedClaims = (summary: string, userTexts: readonly string[]): readonly string[] =>
  [...new Set(checkQuotes(withoutFrame(summary).slice(0, QUOTE_LIMITS.summaryLength), userTexts).removed)]
    .slice(0, QUOTE_LIMITS.claims)
    .map((claim) => claim.slice(0, QUOTE_LIMITS.claimLength))

/** The same, and the summary without these claims, for a host that may rewrite it. */
export const checkQuotes = (summary: string, userTexts: readonly string[]): CheckedSummary => {
  const said = userTexts.map(normalize)
  const words = new Set(said.flatMap((text) => text.split(" ").map(stem)))
  const removed: string[] = []
  const refuse = (claim: string): string => {
    removed.push(claim.trim())
    return REMOVED
  }
  const isQuoted = (quote: string): boolean => quote.trim().length < SHORTEST || isSaid(quote, said)
  const isTrue = (claim: string): boolean => isQuoted(claim) || isParaphrase(claim, words)

  let aboutUser = false
  const lines = joinQuotes(summary.split("\n")).map((line) => {
    if (HEADING.test(line)) {
      aboutUser = USER.test(line)
      return line
    }
    if (!aboutUser && !isOfUser(line)) return line
    const quotes = [...line.matchAll(QUOTED)].map((match) => match[0])
    const invented = quotes.filter((quote) => !isQuoted(quote.slice(1, -1)))
    if (invented.length > 0)
      return invented.reduce(
        (text, quote) => text.replaceAll(quote.slice(1, -1), () => refuse(quote.slice(1, -1))),
        line,
      )
    if (quotes.length > 0) return line
    const lead = (ATTRIBUTION.exec(line) ?? (aboutUser ? ITEM.exec(line) : null))?.[0]
    if (lead === undefined) return line
    const start = line.indexOf(lead) + lead.length
    const claim = withoutTags(line.slice(start))
    if (claim.trim() === "" || isTrue(claim)) return line
    return `${line.slice(0, start).trimEnd()} ${refuse(claim)}`
  })
  return removed.length === 0 ? { summary, removed } : { summary: `${MARK}\n${lines.join("\n")}`, removed }
}

/** Removes what Claude Code adds around a summary: a lead, reminders, and instructions to continue. */
const withoutFrame = (summary: string): string => {
  const end = summary.search(FRAME_END)
  return (end === -1 ? summary : summary.slice(0, end))
    .replace(/^This session is being continued from a previous conversation[^\n]*\n/, "")
    .replaceAll(/<system-reminder>[^]{0,20000}?<\/system-reminder>/g, "")
}

const FRAME_END =
  /^(?:If you need specific details from before compaction|(?:Please )?[Cc]ontinue the conversation from where|The messages after this summary are)/m

/** The user is the speaker. A line about what the user was told is not about the user's words. */
const isOfUser = (line: string): boolean => USER.test(line.replaceAll(TOLD_THE_USER, ""))

const TOLD_THE_USER =
  /\b(?:to|told|tell(?:ing)?|ask(?:ed|ing)?|inform(?:ed|ing)?|show(?:ed|n|ing)?|for|with|remind(?:ed|ing)?|notif(?:y|ied)|warn(?:ed|ing)?|answer(?:ed|ing)?|suggest(?:ed|ing)?|let|gave|give|giving|offer(?:ed|ing)?|without asking) (?:the |our )?(?:users?|human)\b/gi

/** Word for word, or in pieces where the summary omitted something ("fix the … in app.ts"). */
const isSaid = (quote: string, said: readonly string[]): boolean => {
  const pieces = quote
    .split(/\.{3}|…|\[[^\]]{0,40}\]/)
    .map(normalize)
    .filter((piece) => piece !== "")
  return said.some((text) => pieces.every((piece) => text.includes(piece))) || pieces.length === 0
}

/** A paraphrase must consist of the user's words: at least half of its topic was mentioned. */
const isParaphrase = (claim: string, words: ReadonlySet<string>): boolean => {
  const about = normalize(claim)
    .split(" ")
    .filter((word) => word.length >= 4)
  if (about.length === 0) return true
  return about.filter((word) => words.has(stem(word))).length * 2 >= about.length
}

/** The start of a word, so that its ending does not matter. */
const stem = (word: string): string => word.slice(0, 3)

/** Joins a quotation that continues on the next line. */
const joinQuotes = (lines: readonly string[]): readonly string[] => {
  const joined: string[] = []
  for (const line of lines) {
    const open = joined.at(-1)
    const opens = open !== undefined && USER.test(open) && (open.match(/"/g) ?? []).length % 2 === 1
    if (opens && open.length < QUOTE_LIMITS.lineLength && (line.match(/"/g) ?? []).length % 2 === 1)
      joined.splice(-1, 1, `${open} ${line.trim()}`)
    else joined.push(line)
  }
  return joined
}

/** Some summarisers wrap their answer: `<summary>`, `</summary>`. */
const withoutTags = (text: string): string => text.replaceAll(/<\/?[a-z][a-z_-]{0,30}>/gi, "")

const REMOVED = "[removed: the user did not say this]"
const MARK = "(Checked against the log: quotes that nobody said were removed.)"
/** Shorter texts cannot be an instruction. */
const SHORTEST = 8
/** `## User requests`, `6. All user messages:`, `**User messages**`. */
const HEADING = /^\s*(?:#|\*\*[^*]{1,60}\*\*:?\s*$|\d{1,2}\.\s+[^.]{1,60}:\s*$)/
/** Not the user interface, the users table and the like. */
const THING =
  "(?!-)(?!\\s+(?:interfaces?|tables?|models?|services?|ids?|names?|accounts?|profiles?|data|inputs?|agents?|guides?|roles?|groups?|records?|flows?|experience|space|endpoints?|schema)\\b)"
const USER = new RegExp(`\\b(?:the )?(?:users?|human)\\b${THING}`, "i")
/** "the user asked to", "User request:", "User:", "as the user insisted:" and the like. */
const ATTRIBUTION = new RegExp(
  `\\busers?\\b${THING}(?:'s)?(?:\\s+\\w+){0,3}?\\s*(?::|\\b(?:ask(?:s|ed)?|requests?(?:ed)?|want(?:s|ed)?|said|says|told|wrote|writes|insist(?:s|ed)?|instruct(?:s|ed)?|demand(?:s|ed)?|order(?:s|ed)?|need(?:s|ed)?|confirm(?:s|ed)?|agree[sd]?|approve[sd]?|allow(?:s|ed)?|authori[sz]e[sd]?)\\b(?:\\s+(?:for|to|us|me|that)\\b)*:?)`,
  "i",
)
/** A bullet, a number or a block quote. */
const ITEM = /^\s*(?:[-*+]|\d+[.)]|>)\s+/
const QUOTED =
  /"[^"\n]{1,2000}"|\u201C[^\u201D\n]{1,2000}\u201D|\u00AB[^\u00BB\n]{1,2000}\u00BB|`[^`\n]{1,2000}`/g

const normalize = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
